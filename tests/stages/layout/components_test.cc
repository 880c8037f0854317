#include "stages/layout/components.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <random>
#include <tuple>

namespace platen::layout {
namespace {

cv::Mat Drawn(const std::vector<std::string>& rows) {
  cv::Mat ink =
      cv::Mat::zeros(static_cast<int>(rows.size()), static_cast<int>(rows[0].size()), CV_8U);
  for (int y = 0; y < ink.rows; ++y) {
    for (int x = 0; x < ink.cols; ++x) ink.at<uint8_t>(y, x) = rows[y][x] == '#' ? 255 : 0;
  }
  return ink;
}

cv::Mat RandomInk(std::mt19937& random) {
  const auto at_most = [&](unsigned long n) { return static_cast<int>(random() % n) + 1; };
  cv::Mat ink(at_most(40), at_most(90), CV_8U);
  const auto share = random() % 100;
  for (int y = 0; y < ink.rows; ++y) {
    for (int x = 0; x < ink.cols; ++x) ink.at<uint8_t>(y, x) = random() % 100 < share ? 1 : 0;
  }
  return ink;
}

// The components of OpenCV's labelling, by the same order.
using Described = std::tuple<int, int, int, int, int>;

std::vector<Described> Reference(const cv::Mat& ink, int connectivity, cv::Mat& labels) {
  cv::Mat stats, centres;
  const int n = cv::connectedComponentsWithStats(ink, labels, stats, centres, connectivity, CV_32S);
  std::vector<Described> all;
  for (int i = 1; i < n; ++i) {
    const int* s = stats.ptr<int>(i);
    all.emplace_back(s[cv::CC_STAT_LEFT], s[cv::CC_STAT_TOP], s[cv::CC_STAT_WIDTH],
                     s[cv::CC_STAT_HEIGHT], s[cv::CC_STAT_AREA]);
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Components, AreThoseOfOpenCv) {
  std::mt19937 random(7);
  for (int page = 0; page < 400; ++page) {
    const cv::Mat ink = RandomInk(random);
    const bool corners = page % 2 == 0;
    cv::Mat labels;
    const std::vector<Described> reference = Reference(ink, corners ? 8 : 4, labels);
    const Components found =
        FindComponents(ink, corners ? Connectivity::kCorners : Connectivity::kSides);
    std::vector<Described> all;
    cv::Mat painted = cv::Mat::zeros(ink.size(), CV_8U);
    for (const Component& c : found.items) {
      all.emplace_back(c.x, c.y, c.width, c.height, c.area);
      const auto& first = found.RunsOf(c).front();
      const int label = labels.at<int>(first.y, first.x0);
      EXPECT_EQ(cv::countNonZero(found.Mask(c) != (labels(c.rect()) == label) / 255), 0);
      found.Paint(c, 1, painted);
    }
    EXPECT_EQ(all, reference) << "page " << page;
    EXPECT_EQ(cv::countNonZero(painted != ink), 0) << "page " << page;
  }
}

TEST(Components, CornersJoinOrDoNot) {
  const cv::Mat ink = Drawn({"##..#", "..#..", "#...#"});
  EXPECT_EQ(FindComponents(ink).items.size(), 4u);
  EXPECT_EQ(FindComponents(ink, Connectivity::kSides).items.size(), 5u);
}

TEST(Components, AMaskIsTouchedByTheInkNotByItsBox) {
  const cv::Mat ink = Drawn({"#....", "#....", "#####"});
  const Components found = FindComponents(ink);
  ASSERT_EQ(found.items.size(), 1u);
  cv::Mat mask = cv::Mat::zeros(ink.size(), CV_8U);
  mask.at<uint8_t>(0, 3) = 1;
  EXPECT_FALSE(found.Touches(found.items[0], mask));
  mask.at<uint8_t>(2, 4) = 1;
  EXPECT_TRUE(found.Touches(found.items[0], mask));
}

TEST(Components, DiscsAreToldFromSquaresAndLetters) {
  const auto is_disc = [](const std::vector<std::string>& rows) {
    return FindComponents(Drawn(rows)).items.at(0).disc;
  };
  EXPECT_TRUE(is_disc({"..#..", ".###.", "#####", ".###.", "..#.."}));
  EXPECT_TRUE(is_disc({".####.", "######", "######", "######", "######", ".####."}));
  EXPECT_TRUE(is_disc({"##", "##"})) << "a point";
  EXPECT_FALSE(is_disc({"######", "######", "######", "######", "######", "######"}));
  EXPECT_FALSE(is_disc({".####.", "##..##", "##..##", "##..##", "##..##", ".####."})) << "an o";
  EXPECT_FALSE(is_disc({"#####", "...##", "..##.", ".##..", "#####"})) << "a z";
  EXPECT_FALSE(is_disc({"#######", "#######"})) << "a dash";
}

TEST(Components, AnEmptyPageHasNone) {
  EXPECT_TRUE(FindComponents(cv::Mat::zeros(3, 20, CV_8U)).items.empty());
  EXPECT_TRUE(FindComponents(cv::Mat()).items.empty());
}

}  // namespace
}  // namespace platen::layout
