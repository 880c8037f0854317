// Marks over print in a lighter ink. xh = 14.
#include "stages/layout/classical/faint_marks.h"

#include <gtest/gtest.h>

#include <opencv2/imgproc.hpp>

namespace platen::layout {
namespace {

constexpr double kXHeight = 14;
const cv::Rect kStamp(60, 40, 220, 90);

// Letters as upright strokes joined at their foot, on every line of the page.
void DrawPrint(cv::Mat& flat) {
  for (int y = 20; y < 180; y += 34) {
    for (int x = 10; x < 380; x += 17) {
      flat(cv::Rect(x, y, 3, 14)).setTo(20);
      flat(cv::Rect(x + 8, y, 3, 14)).setTo(20);
      flat(cv::Rect(x, y + 11, 11, 3)).setTo(20);
    }
  }
}

cv::Mat InkOf(const cv::Mat& flat) { return (flat < 200) & 1; }

TEST(FaintMarks, GoAndLeaveThePrintUnderThem) {
  cv::Mat flat(200, 400, CV_8U, cv::Scalar(255)), stamped;
  DrawPrint(flat);
  const cv::Mat print = InkOf(flat);
  stamped = flat.clone();
  cv::rectangle(stamped, kStamp, cv::Scalar(130), 4);
  stamped = cv::min(stamped, flat);
  cv::Mat ink = InkOf(stamped);
  ASSERT_GT(cv::countNonZero(ink != print), 500);
  ASSERT_TRUE(MayHaveFaintMarks(FindComponents(ink).items, kXHeight));
  RemoveFaintMarks(stamped, FindComponents(ink), kXHeight, ink);
  EXPECT_EQ(cv::countNonZero(ink != print), 0);
}

TEST(FaintMarks, AsDarkAsThePrintStay) {
  cv::Mat flat(200, 400, CV_8U, cv::Scalar(255));
  DrawPrint(flat);
  cv::rectangle(flat, kStamp, cv::Scalar(25), 4);
  cv::Mat ink = InkOf(flat);
  const cv::Mat before = ink.clone();
  RemoveFaintMarks(flat, FindComponents(ink), kXHeight, ink);
  EXPECT_EQ(cv::countNonZero(ink != before), 0);
}

TEST(FaintMarks, OnWhitePaperStay) {
  cv::Mat flat(600, 400, CV_8U, cv::Scalar(255));
  DrawPrint(flat);
  cv::rectangle(flat, cv::Rect(60, 400, 220, 90), cv::Scalar(130), 4);
  cv::Mat ink = InkOf(flat);
  const cv::Mat before = ink.clone();
  RemoveFaintMarks(flat, FindComponents(ink), kXHeight, ink);
  EXPECT_EQ(cv::countNonZero(ink != before), 0);
}

}  // namespace
}  // namespace platen::layout
