// The tone of paper on shaded pages, with pictures on them and without.
#include "stages/layout/classical/paper_tone.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace platen::layout {
namespace {

// Falls from 240 at the lower right to 240 * (1 - depth) at the upper left.
double Shaded(int x, int y, cv::Size grid, double depth) {
  const double u = static_cast<double>(x) / grid.width, v = static_cast<double>(y) / grid.height;
  const double away = (2 - u - v) / 2;
  return 240 * (1 - depth * away * away);
}

cv::Mat ShadedPage(cv::Size grid, double depth) {
  cv::Mat tones(grid, CV_8U);
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      tones.at<uint8_t>(y, x) = static_cast<uint8_t>(std::lround(Shaded(x, y, grid, depth)));
    }
  }
  return tones;
}

TEST(PaperTone, FollowsAShadow) {
  const cv::Size grid(60, 85);
  for (const double depth : {0.0, 0.3, 0.5}) {
    const cv::Mat paper = PaperTone(ShadedPage(grid, depth));
    for (int y = 0; y < grid.height; y += 12) {
      for (int x = 0; x < grid.width; x += 12) {
        const double wanted = std::min(Shaded(x, y, grid, depth), 240.0);
        EXPECT_NEAR(paper.at<float>(y, x), wanted, 0.06 * wanted) << depth << " " << x << " " << y;
      }
    }
  }
}

TEST(PaperTone, PassesOverAPicture) {
  const cv::Size grid(60, 85);
  cv::Mat tones = ShadedPage(grid, 0.2);
  std::mt19937 random(3);
  for (int y = 5; y < 45; ++y) {  // a third of the page
    for (int x = 5; x < 45; ++x) tones.at<uint8_t>(y, x) = static_cast<uint8_t>(60 + random() % 90);
  }
  const cv::Mat paper = PaperTone(tones);
  for (const cv::Point at : {cv::Point(10, 10), cv::Point(25, 25), cv::Point(40, 40)}) {
    const double wanted = Shaded(at.x, at.y, grid, 0.2);
    EXPECT_NEAR(paper.at<float>(at), wanted, 0.1 * wanted) << at;
  }
}

TEST(PaperTone, IsOneWhereMostOfThePageIsAPicture) {
  cv::Mat tones(85, 60, CV_8U, cv::Scalar(240));
  std::mt19937 random(3);
  for (int y = 12; y < 85; ++y) {
    for (int x = 0; x < 60; ++x)
      tones.at<uint8_t>(y, x) = static_cast<uint8_t>(20 + random() % 160);
  }
  const cv::Mat paper = PaperTone(tones);
  double least, most;
  cv::minMaxLoc(paper, &least, &most);
  EXPECT_EQ(least, most);
}

TEST(PaperTone, OfAFewCellsIsTheLightest) {
  EXPECT_EQ(PaperTone(cv::Mat(1, 1, CV_8U, cv::Scalar(200))).at<float>(0, 0), 200);
  EXPECT_EQ(PaperTone(cv::Mat(2, 2, CV_8U, cv::Scalar(0))).at<float>(1, 1), 0);
}

}  // namespace
}  // namespace platen::layout
