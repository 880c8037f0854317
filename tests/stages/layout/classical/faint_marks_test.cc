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
  EXPECT_TRUE(RemoveFaintMarks(stamped, kXHeight, ink).empty());
  EXPECT_EQ(cv::countNonZero(ink != print), 0);
}

TEST(FaintMarks, AsDarkAsThePrintStay) {
  cv::Mat flat(200, 400, CV_8U, cv::Scalar(255));
  DrawPrint(flat);
  cv::rectangle(flat, kStamp, cv::Scalar(25), 4);
  cv::Mat ink = InkOf(flat);
  const cv::Mat before = ink.clone();
  EXPECT_TRUE(RemoveFaintMarks(flat, kXHeight, ink).empty());
  EXPECT_EQ(cv::countNonZero(ink != before), 0);
}

TEST(FaintMarks, WordsInAFrameOnWhitePaperBecomeInk) {
  cv::Mat flat(600, 400, CV_8U, cv::Scalar(255));
  DrawPrint(flat);
  cv::Mat words = cv::Mat::zeros(flat.size(), CV_8U);
  cv::putText(words, "PAID 3 MAY", {90, 455}, cv::FONT_HERSHEY_SIMPLEX, 0.8, cv::Scalar(1), 2);
  flat.setTo(190, words);
  cv::Mat expected = InkOf(flat);
  cv::rectangle(flat, cv::Rect(60, 400, 260, 90), cv::Scalar(190), 4);
  for (const int ink_begins : {150, 200}) {
    cv::Mat ink = (flat < ink_begins) & 1;
    EXPECT_TRUE(RemoveFaintMarks(flat, kXHeight, ink).empty());
    EXPECT_EQ(cv::countNonZero(ink != expected), 0) << ink_begins;
  }
}

TEST(FaintMarks, OnWhitePaperStay) {
  cv::Mat flat(600, 400, CV_8U, cv::Scalar(255));
  DrawPrint(flat);
  cv::rectangle(flat, cv::Rect(60, 400, 220, 90), cv::Scalar(130), 4);
  cv::Mat ink = InkOf(flat);
  const cv::Mat before = ink.clone();
  EXPECT_TRUE(RemoveFaintMarks(flat, kXHeight, ink).empty());
  EXPECT_EQ(cv::countNonZero(ink != before), 0);
}

TEST(FaintMarks, GoWhereInkBeginsAtTheirOwnTone) {
  cv::Mat flat(200, 400, CV_8U, cv::Scalar(255));
  DrawPrint(flat);
  const cv::Mat print = InkOf(flat);
  cv::Mat stamped = flat.clone(), grain(flat.size(), CV_8U);
  cv::rectangle(stamped, kStamp, cv::Scalar(160), 4);
  stamped = cv::min(stamped, flat);
  cv::randu(grain, 0, 20);
  stamped += grain;
  cv::Mat ink = (stamped < 170) & 1;  // half of the mark's grains
  RemoveFaintMarks(stamped, kXHeight, ink);
  EXPECT_EQ(cv::countNonZero(ink != print), 0);
}

TEST(FaintMarks, TwoThatHangTogetherGoAndAPaleGridStays) {
  cv::Mat flat(200, 1200, CV_8U, cv::Scalar(255));
  DrawPrint(flat);
  flat.colRange(0, 400).copyTo(flat.colRange(400, 800));
  flat.colRange(0, 400).copyTo(flat.colRange(800, 1200));
  const cv::Mat print = InkOf(flat);
  cv::Mat stamped = flat.clone(), grid = flat.clone();
  cv::rectangle(stamped, cv::Rect(60, 30, 430, 90), cv::Scalar(130), 4);
  cv::rectangle(stamped, cv::Rect(470, 60, 430, 90), cv::Scalar(130), 4);
  stamped = cv::min(stamped, flat);
  cv::Mat ink = InkOf(stamped);
  RemoveFaintMarks(stamped, kXHeight, ink);
  EXPECT_EQ(cv::countNonZero(ink != print), 0);
  for (int y = 40; y < 180; y += 34) cv::line(grid, {60, y}, {1000, y}, cv::Scalar(130), 2);
  for (int x = 60; x <= 1000; x += 94) cv::line(grid, {x, 40}, {x, 176}, cv::Scalar(130), 2);
  grid = cv::min(grid, flat);
  ink = InkOf(grid);
  const cv::Mat before = ink.clone();
  RemoveFaintMarks(grid, kXHeight, ink);
  EXPECT_EQ(cv::countNonZero(ink != before), 0);
}

TEST(FaintMarks, AslantOnWhitePaperGoAndAreReported) {
  cv::Mat flat(600, 400, CV_8U, cv::Scalar(255));
  DrawPrint(flat);
  const cv::Mat print = InkOf(flat);
  const cv::RotatedRect stamp({180, 450}, {220, 90}, 8);
  cv::Point2f corners[4];
  stamp.points(corners);
  for (int i = 0; i < 4; ++i) cv::line(flat, corners[i], corners[(i + 1) % 4], cv::Scalar(130), 4);
  cv::putText(flat, "RECEIVED", {120, 460}, cv::FONT_HERSHEY_SIMPLEX, 0.8, cv::Scalar(130), 2);
  cv::Mat ink = InkOf(flat);
  const std::vector<Box> marks = RemoveFaintMarks(flat, kXHeight, ink);
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_NEAR(marks[0].center_x(), 180, 3);
  EXPECT_NEAR(marks[0].center_y(), 450, 3);
  EXPECT_EQ(cv::countNonZero(ink != print), 0);
}

}  // namespace
}  // namespace platen::layout
