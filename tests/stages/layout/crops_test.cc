// Crops: where a line's baseline and x-height come to lie, how long lines are cut.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/stages/layout/drawn_page.h"
#include "tests/support/page_crops.h"

namespace platen {
namespace {

using testing::CropsOf;
using testing::DrawnPage;
using testing::DrawProse;

ReadingConfig LineReading() {
  ReadingConfig reading;
  reading.granularity = Granularity::kLine;
  reading.line_height = 28;
  reading.x_height = 11;
  reading.baseline = 20;
  reading.max_width = 560;
  return reading;
}

std::vector<Crop> CropLines(const Image& page, const ReadingConfig& reading) {
  return CropsOf(page, MakeClassicalDetector()->Detect(page), reading);
}

// Mean grey value of one row of a crop.
double RowMean(const Image& image, int y) {
  double sum = 0;
  for (int x = 0; x < image.width; ++x) sum += image.Row(y)[3 * x];
  return sum / image.width;
}

// Columns that hold a dark pixel between two rows.
int InkColumns(const Image& image, int top, int bottom) {
  int columns = 0;
  for (int x = 0; x < image.width; ++x) {
    bool ink = false;
    for (int y = top; y < bottom; ++y) ink |= image.Row(y)[3 * x] < 128;
    columns += ink;
  }
  return columns;
}

// First and last row that is darker than halfway between paper and the darkest row.
std::pair<int, int> InkRows(const Image& image) {
  double darkest = 255;
  for (int y = 0; y < image.height; ++y) darkest = std::min(darkest, RowMean(image, y));
  int first = -1, last = -1;
  for (int y = 0; y < image.height; ++y) {
    if (RowMean(image, y) > (255 + darkest) / 2) continue;
    if (first < 0) first = y;
    last = y;
  }
  return {first, last};
}

TEST(LineCrops, PutXHeightAndBaselineWhereTheModelExpectsThem) {
  for (int x_height : {9, 13, 22, 40}) {
    DrawnPage page(60 * x_height, 60 * x_height);
    DrawProse(page, 4 * x_height, 6 * x_height, x_height, 12, 3 * x_height);
    // A line of small letters only: its ink rows are its x-height.
    page.Text(4 * x_height, 50 * x_height, x_height, "xxxxx xxx xxxxxx xx");
    const std::vector<Crop> crops = CropLines(page.image(), LineReading());
    ASSERT_FALSE(crops.empty());
    const Image& last = crops.back().image;
    ASSERT_EQ(last.height, 28);
    const auto [first_row, last_row] = InkRows(last);
    EXPECT_NEAR(first_row, 9, 1) << "x-height " << x_height;
    EXPECT_NEAR(last_row, 19, 1) << "x-height " << x_height;
  }
}

TEST(LineCrops, ShowCapitalsAtTheScaleOfThePage) {
  DrawnPage page(900, 700);
  DrawProse(page, 60, 100, 14, 12, 40);
  page.Text(60, 640, 14, "CCCC CCC CCCCC");
  const std::vector<Crop> crops = CropLines(page.image(), LineReading());
  const auto [first_row, last_row] = InkRows(crops.back().image);
  EXPECT_NEAR(first_row, 20 - 16, 1.5);  // 1.45 x-heights above the baseline
  EXPECT_NEAR(last_row, 19, 1);
}

TEST(LineCrops, APageOfCapitalsIsNotEnlarged) {
  DrawnPage page(900, 700);
  for (int i = 0; i < 12; ++i) page.Text(60, 100 + 45 * i, 14, "CCCC CCC CCCCC CCCC");
  const std::vector<Crop> crops = CropLines(page.image(), LineReading());
  ASSERT_EQ(crops.size(), 12u);
  const auto [first_row, last_row] = InkRows(crops[5].image);
  EXPECT_NEAR(last_row - first_row + 1, 11 * 1.4, 1.5);
  EXPECT_NEAR(last_row, 19, 1);
}

TEST(LineCrops, ScaleAHeadlineByItsOwnLetters) {
  DrawnPage page(1200, 700);
  page.Text(60, 100, 34, "bxxp Cxxbx xbxx");
  DrawProse(page, 60, 200, 14, 12, 40);
  const std::vector<Crop> crops = CropLines(page.image(), LineReading());
  const Image& headline = crops.front().image;
  // Ascenders from row 4, small letters to row 19, descenders below.
  const auto [first_row, last_row] = InkRows(headline);
  EXPECT_NEAR(last_row, 19, 1);
  EXPECT_GE(first_row, 3);
  EXPECT_LE(headline.width, 9 * 28);
}

TEST(LineCrops, FollowTheSkewOfThePage) {
  DrawnPage page(1000, 700);
  for (int i = 0; i < 12; ++i) page.Text(100, 120 + 40 * i, 14, "xxxx xbxx xxxxxx xbx xxpx xxxx");
  for (double degrees : {-2.0, 1.2}) {
    const std::vector<Crop> crops = CropLines(page.Skewed(degrees), LineReading());
    ASSERT_EQ(crops.size(), 12u);
    const auto [first_row, last_row] = InkRows(crops[6].image);
    EXPECT_NEAR(first_row, 9, 1) << degrees;
    EXPECT_NEAR(last_row, 19, 1) << degrees;
  }
}

TEST(LineCrops, AreWholeMultiplesOfTheLineHeightWithPaperAtBothEnds) {
  DrawnPage page(900, 700);
  DrawProse(page, 60, 100, 14, 12, 40);
  for (const Crop& crop : CropLines(page.image(), LineReading())) {
    EXPECT_EQ(crop.image.width % 28, 0);
    for (int y = 0; y < 28; ++y) {
      for (int x : {0, 1, 2, crop.image.width - 3, crop.image.width - 2, crop.image.width - 1}) {
        EXPECT_GT(crop.image.Row(y)[3 * x], 200) << "row " << y << " column " << x;
      }
    }
  }
}

TEST(LineCrops, CutLongLinesBetweenWordsIntoEvenParts) {
  DrawnPage page(2600, 500);
  std::string text;
  for (int word = 0; word < 22; ++word) text += word % 2 ? "xbxxxx " : "bxpxxib ";
  for (int i = 0; i < 6; ++i) page.Text(60, 100 + 45 * i, 14, text);
  const ReadingConfig reading = LineReading();
  const std::vector<Crop> crops = CropLines(page.image(), reading);
  int parts = 0, ink_columns = 0, narrowest = 10000, widest = 0;
  for (const Crop& crop : crops) {
    if (crop.origin.line != 2) continue;
    EXPECT_EQ(crop.origin.part, parts++);
    EXPECT_LE(crop.image.width, reading.max_width);
    ink_columns += InkColumns(crop.image, 9, 20);
    narrowest = std::min(narrowest, crop.image.width);
    widest = std::max(widest, crop.image.width);
  }
  ReadingConfig uncut = reading;
  uncut.max_width = 0;
  const std::vector<Crop> whole = CropLines(page.image(), uncut);
  ASSERT_EQ(whole.size(), 6u);
  const int least_parts = (whole[2].image.width + reading.max_width - 1) / reading.max_width;
  EXPECT_GE(parts, least_parts);
  EXPECT_LE(parts, least_parts + 1);
  EXPECT_LT(widest - narrowest, 140) << "parts are of about one width";
  EXPECT_NEAR(ink_columns, InkColumns(whole[2].image, 9, 20), 4) << "no letter is cut or lost";
}

TEST(LineCrops, LeaveOutRulingsAndNeighbours) {
  DrawnPage page(900, 700);
  for (int i = 0; i < 12; ++i) {
    page.Text(60, 100 + 45 * i, 14, "xxxx xbxx xxxxxx xbx");
    page.Fill(50, 109 + 45 * i, 700, 111 + 45 * i);
  }
  for (const Crop& crop : CropLines(page.image(), LineReading())) {
    for (int y = 22; y < 28; ++y) EXPECT_GT(RowMean(crop.image, y), 230) << "row " << y;
  }
}

TEST(LineCrops, WithoutGeometryFitTheLinesQuad) {
  DrawnPage page(900, 700);
  DrawProse(page, 60, 100, 14, 12, 40);
  ReadingConfig reading;
  reading.granularity = Granularity::kLine;
  reading.line_height = 32;
  for (const Crop& crop : CropLines(page.image(), reading)) EXPECT_EQ(crop.image.height, 32);
}

TEST(RegionCrops, AreScaledDownToTheTextHeightAndNeverUp) {
  DrawnPage page(1800, 1400);
  DrawProse(page, 120, 200, 28, 6, 80);
  DrawProse(page, 120, 900, 28, 4, 80);
  const PageLayout found = MakeClassicalDetector()->Detect(page.image());
  ReadingConfig reading;  // blocks
  const std::vector<Crop> full = CropsOf(page.image(), found, reading, 0);
  const std::vector<Crop> half = CropsOf(page.image(), found, reading, 14);
  const std::vector<Crop> same = CropsOf(page.image(), found, reading, 60);
  ASSERT_EQ(full.size(), 2u);
  ASSERT_EQ(half.size(), 2u);
  EXPECT_EQ(full[1].origin.region, 1);
  EXPECT_EQ(full[1].origin.line, CropOrigin::kWholeRegion);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(half[i].image.width, full[i].image.width / 2.0, 12);
    EXPECT_NEAR(half[i].image.height, full[i].image.height / 2.0, 8);
    EXPECT_EQ(same[i].image.width, full[i].image.width);
  }
  reading.granularity = Granularity::kPage;
  EXPECT_EQ(CropsOf(page.image(), found, reading, 0)[0].image.rgb, page.image().rgb);
  EXPECT_NEAR(CropsOf(page.image(), found, reading, 14)[0].image.width, 900, 20);
}

TEST(Crops, OfABlankPageAreNoneButThePage) {
  const Image page = DrawnPage(300, 200).image();
  const PageLayout nothing = MakeClassicalDetector()->Detect(page);
  ReadingConfig reading = LineReading();
  EXPECT_TRUE(CropsOf(page, nothing, reading, 14).empty());
  reading.granularity = Granularity::kBlock;
  EXPECT_TRUE(CropsOf(page, nothing, reading, 14).empty());
  reading.granularity = Granularity::kPage;
  EXPECT_EQ(CropsOf(page, nothing, reading, 14).size(), 1u);
}

TEST(RotatePage, TurnsClockwise) {
  Image page(3, 2);
  for (int i = 0; i < 6; ++i) std::fill_n(page.rgb.begin() + 3 * i, 3, static_cast<uint8_t>(i));
  const Image quarter = RotatePage(page, 90);
  ASSERT_EQ(quarter.width, 2);
  ASSERT_EQ(quarter.height, 3);
  EXPECT_EQ(quarter.Row(0)[0], 3);  // the lower left corner comes to the upper left
  EXPECT_EQ(quarter.Row(0)[3], 0);
  EXPECT_EQ(RotatePage(page, 180).Row(0)[0], 5);
  EXPECT_EQ(RotatePage(page, 270).Row(0)[0], 2);
  EXPECT_EQ(RotatePage(RotatePage(page, 90), 270).rgb, page.rgb);
}

}  // namespace
}  // namespace platen
