// Hatching: lines that have no white above and below them. xh = 14.
#include "stages/layout/classical/hatching.h"

#include <gtest/gtest.h>

#include <opencv2/imgproc.hpp>

namespace platen::layout {
namespace {

constexpr double kXHeight = 14;

Phrase LineAt(double x, double y, int letters) {
  Phrase line;
  for (int i = 0; i < letters; ++i) line.letters.push_back({x + 9 * i, y, x + 9 * i + 5, y + 14});
  line.box = Union(line.letters);
  return line;
}

// Slanting strokes over the whole page.
cv::Mat Hatched() {
  cv::Mat ink = cv::Mat::zeros(400, 600, CV_8U);
  for (int x = -100; x < 700; x += 9) cv::line(ink, {x, 0}, {x + 60, 400}, cv::Scalar(1), 3);
  return ink;
}

// Rows of letters, tightly set, with ascenders and descenders here and there.
cv::Mat Printed() {
  cv::Mat ink = cv::Mat::zeros(400, 600, CV_8U);
  for (int y = 20; y < 380; y += 26) {
    for (int i = 0; i < 60; ++i) {
      const int up = i % 5 == 0 ? 6 : 0, down = i % 7 == 0 ? 5 : 0;
      ink(cv::Rect(10 + 9 * i, y - up, 5, 14 + up + down) & cv::Rect(0, 0, 600, 400)).setTo(1);
    }
  }
  return ink;
}

double Around(const cv::Mat& ink, const Box& line) {
  return InkAround(InkSums(ink), line, kXHeight);
}

TEST(InkAround, IsNothingForPrintAndAllForHatching) {
  EXPECT_EQ(Around(Printed(), LineAt(10, 46, 40).box), 0);
  EXPECT_GT(Around(Hatched(), LineAt(10, 46, 40).box), 0.7);
  EXPECT_EQ(Around(cv::Mat::zeros(400, 600, CV_8U), LineAt(10, 46, 40).box), 0);
}

TEST(InkAround, LooksNowhereBeyondThePage) {
  const cv::Mat ink = Hatched();
  for (const Box& box : {Box{0, 0, 600, 14}, Box{0, 386, 600, 400}, Box{590, 390, 700, 500}}) {
    EXPECT_GE(Around(ink, box), 0);
  }
}

TEST(HatchedAreas, HoldManyShortLines) {
  std::vector<Phrase> lines;
  for (int y = 20; y < 300; y += 30) lines.push_back(LineAt(50, y, 2));
  const std::vector<Box> areas = HatchedAreas(InkSums(Hatched()), lines, kXHeight);
  ASSERT_EQ(areas.size(), 1u);
  EXPECT_EQ(areas[0].y0, 20);
  EXPECT_EQ(areas[0].y1, 304);
  EXPECT_TRUE(HatchedAreas(InkSums(Printed()), lines, kXHeight).empty());
  EXPECT_TRUE(
      HatchedAreas(InkSums(Hatched()), {lines.begin(), lines.begin() + 5}, kXHeight).empty());
}

TEST(HatchedAreas, PrintOnATintOfLinesIsNone) {
  std::vector<Phrase> lines;
  for (int y = 20; y < 300; y += 30) lines.push_back(LineAt(50, y, 30));
  EXPECT_TRUE(HatchedAreas(InkSums(Hatched()), lines, kXHeight).empty());
}

}  // namespace
}  // namespace platen::layout
