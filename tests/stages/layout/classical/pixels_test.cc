// The pieces that work on pixels: light, rulings, gutters, warps, cuts.
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "stages/layout/classical/binarise.h"
#include "stages/layout/classical/gutters.h"
#include "stages/layout/classical/rulings.h"
#include "stages/layout/components.h"
#include "stages/layout/line_pieces.h"
#include "stages/layout/page_warp.h"

namespace platen::layout {
namespace {

// ThreadSanitizer cannot see how OpenCV's own threads synchronise; the program starts none either.
#ifdef __SANITIZE_THREAD__
const bool kOneOpenCvThread = (cv::setNumThreads(1), true);
#endif

constexpr double kXHeight = 12;

cv::Mat Blank(int width, int height, uint8_t value) {
  return cv::Mat(height, width, CV_8U, cv::Scalar(value));
}

void Fill(cv::Mat& image, int x, int y, int width, int height, int value) {
  image(cv::Rect(x, y, width, height)).setTo(cv::Scalar::all(value));
}

TEST(Light, AShadedPageBecomesWhiteAndItsInkStaysDark) {
  cv::Mat page(400, 600, CV_8U);
  for (int y = 0; y < page.rows; ++y) {
    for (int x = 0; x < page.cols; ++x) page.at<uint8_t>(y, x) = static_cast<uint8_t>(250 - x / 12);
  }
  for (int x = 20; x < 580; x += 40) Fill(page, x, 200, 6, 12, page.at<uint8_t>(100, x) / 4);
  const cv::Mat ink = Binarise(FlattenLight(page));
  EXPECT_EQ(FindComponents(ink).items.size(), 14u);
  EXPECT_EQ(cv::countNonZero(ink), 14 * 6 * 12);
}

TEST(Light, AShadowAlongAnEdgeIsPaper) {
  cv::Mat page = Blank(600, 400, 240);
  Fill(page, 0, 0, 40, 400, 60);
  Fill(page, 300, 200, 8, 12, 20);
  const Components found = FindComponents(Binarise(FlattenLight(page)));
  ASSERT_EQ(found.items.size(), 1u);
  EXPECT_EQ(found.items[0].x, 300);
}

TEST(Rulings, AreRemovedAndLettersStay) {
  cv::Mat ink = Blank(800, 400, 0);
  Fill(ink, 50, 100, 600, 2, 1);  // a rule
  Fill(ink, 300, 50, 3, 300, 1);  // an upright one
  for (int x = 60; x < 640; x += 20) Fill(ink, x, 130, 10, 12, 1);
  Fill(ink, 60, 200, 40, 2, 1);  // a dash
  const Rulings rulings = RemoveRulings(kXHeight, ink);
  ASSERT_EQ(rulings.across.size(), 1u);
  EXPECT_NEAR(rulings.across[0].at, 101, 1);
  EXPECT_NEAR(rulings.across[0].from, 50, 2);
  EXPECT_NEAR(rulings.across[0].to, 650, 2);
  ASSERT_EQ(rulings.down.size(), 1u);
  EXPECT_NEAR(rulings.down[0].at, 301.5, 1);
  EXPECT_NEAR(rulings.down[0].from, 50, 2);
  EXPECT_NEAR(rulings.down[0].to, 350, 2);
  EXPECT_EQ(cv::countNonZero(ink), 28 * 120 + 80 + 72) << "of the letter at 300 six columns stay";
}

TEST(Rulings, SlantedOnesAreRemovedToo) {
  cv::Mat ink = Blank(1200, 400, 0);
  for (int x = 50; x < 1150; ++x) Fill(ink, x, 100 + x / 90, 1, 2, 1);
  RemoveRulings(kXHeight, ink);
  EXPECT_LT(cv::countNonZero(ink), 60);
}

// `missing`: letters of each row, from the 20th on.
std::vector<Box> TwoColumns(int missing) {
  std::vector<Box> letters;
  for (int row = 0; row < 20; ++row) {
    for (int i = 0; i < 40; ++i) {
      if (i >= 20 && i < 20 + missing) continue;  // white down the page
      if (i == 5 + row % 9) continue;    // word spaces
      const double x = 50 + 15 * i, y = 100 + 32 * row;
      letters.push_back({x, y, x + 9, y + 12});
    }
  }
  return letters;
}

TEST(GuttersBetween, NoneLeadsAlongAStripe) {
  const Box left = {335, 420, 344, 432}, right = {365, 420, 374, 432};
  const std::vector<Box> letters = TwoColumns(1), stripes = {{353, 0, 356, 900}};
  EXPECT_TRUE(Gutters(letters, {}, cv::Size(800, 900), kXHeight).Between(left, right));
  EXPECT_FALSE(Gutters(letters, stripes, cv::Size(800, 900), kXHeight).Between(left, right));
}

TEST(GuttersBetween, ColumnsButNotBetweenWords) {
  const Gutters gutters(TwoColumns(2), {}, cv::Size(800, 900), kXHeight);
  const auto between = [&](double left_end, double right_start) {
    return gutters.Between({left_end - 9, 420, left_end, 432},
                           {right_start, 420, right_start + 9, 432});
  };
  EXPECT_TRUE(between(50 + 15 * 19 + 9, 50 + 15 * 22));
  EXPECT_FALSE(between(50 + 15 * 5 + 9, 50 + 15 * 7));
}

TEST(WarpCrop, CopiesPixelsAtScaleOne) {
  cv::Mat page(50, 60, CV_8UC3);
  cv::randu(page, 0, 256);
  const cv::Mat crop = WarpCrop(page, {{10, 5}, {1, 0}, {0, 1}}, {20, 30});
  EXPECT_EQ(cv::norm(crop, page(cv::Rect(10, 5, 20, 30)), cv::NORM_INF), 0);
}

TEST(WarpCrop, AveragesWhenItShrinks) {
  // Stripes of one pixel: any sampling without averaging would show them.
  cv::Mat page(400, 400, CV_8UC3, cv::Scalar::all(255));
  for (int x = 0; x < 400; x += 2) page.col(x).setTo(cv::Scalar::all(0));
  for (double unit : {2.0, 3.4, 7.9}) {
    const cv::Mat crop = WarpCrop(page, {{40, 40}, {unit, 0}, {0, unit}}, {35, 35});
    double low = 0, high = 0;
    cv::minMaxLoc(crop.reshape(1), &low, &high);
    EXPECT_GT(low, 100) << unit;
    EXPECT_LT(high, 155) << unit;
  }
}

TEST(WarpCrop, PutsEdgesWhereTheFrameSays) {
  cv::Mat page(600, 600, CV_8UC3, cv::Scalar::all(255));
  page(cv::Rect(200, 300, 400, 300)).setTo(cv::Scalar::all(0));
  for (double unit : {0.5, 1.0, 1.7, 4.0}) {
    const cv::Mat crop =
        WarpCrop(page, {{200 - 10 * unit, 300 - 6 * unit}, {unit, 0}, {0, unit}}, {20, 12});
    EXPECT_GT(crop.at<cv::Vec3b>(8, 9)[0], 180) << unit;
    EXPECT_LT(crop.at<cv::Vec3b>(8, 10)[0], 75) << unit;
    EXPECT_GT(crop.at<cv::Vec3b>(5, 12)[0], 180) << unit;
    EXPECT_LT(crop.at<cv::Vec3b>(6, 12)[0], 75) << unit;
  }
}

TEST(WarpCrop, RepeatsTheBorderOutsideThePageAndTakesLongPages) {
  cv::Mat page(20, 40000, CV_8UC3, cv::Scalar::all(90));
  const cv::Mat crop = WarpCrop(page, {{-30, -30}, {1, 0}, {0, 1}}, {39000, 80});
  EXPECT_EQ(crop.at<cv::Vec3b>(0, 0)[0], 90);
  EXPECT_EQ(crop.at<cv::Vec3b>(79, 38999)[2], 90);
}

// Words of `widths` with `gaps` between them, letters 5 wide and 2 apart; 28 rows.
cv::Mat Strip(const std::vector<int>& widths, int gap) {
  int total = 10;
  for (int w : widths) total += w + gap;
  cv::Mat strip(28, total, CV_8UC3, cv::Scalar::all(255));
  int x = 5;
  for (int w : widths) {
    for (int i = 0; i + 5 <= w; i += 7) strip(cv::Rect(x + i, 9, 5, 11)).setTo(cv::Scalar::all(0));
    x += w + gap;
  }
  return strip;
}

TEST(Cuts, GoThroughWordGapsIntoPiecesOfAboutOneWidth) {
  const cv::Mat strip = Strip(std::vector<int>(14, 61), 8);
  const Piece text = {0, strip.cols};
  const std::vector<Piece> pieces = CutAtWordGaps(strip, MeasureTones(strip), {11, 20}, text, 560);
  ASSERT_EQ(pieces.size(), 2u);
  for (const Piece& p : pieces) {
    EXPECT_LE(p.end - p.start, 560);
    EXPECT_NEAR(p.end - p.start, strip.cols / 2, 40);
  }
  EXPECT_EQ((pieces[0].end - 5 - 61 * 7 - 8 * 6) / 4, 0) << "a word's end, or the paper beside it";
}

TEST(Cuts, OnlyAWordThatDoesNotFitIsCut) {
  cv::Mat strip(28, 900, CV_8UC3, cv::Scalar::all(255));
  strip(cv::Rect(5, 9, 890, 11)).setTo(cv::Scalar::all(0));
  const std::vector<Piece> pieces =
      CutAtWordGaps(strip, MeasureTones(strip), {11, 20}, {0, 900}, 400);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces.front().start, 0);
  EXPECT_EQ(pieces.back().end, 900);
  for (size_t i = 1; i < pieces.size(); ++i) EXPECT_EQ(pieces[i].start, pieces[i - 1].end);
}

TEST(Cuts, AShortLineStaysWhole) {
  const cv::Mat strip = Strip({40, 40}, 8);
  EXPECT_EQ(CutAtWordGaps(strip, MeasureTones(strip), {11, 20}, {0, strip.cols}, 560).size(), 1u);
}

}  // namespace
}  // namespace platen::layout
