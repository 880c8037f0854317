// Crops' readings become a page.
#include "stages/assemble.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

using Granularity = ReadingConfig::Granularity;

PageGeometry ThreeLines() {
  PageGeometry geometry;
  geometry.page = 4;
  geometry.width = 300;
  geometry.height = 200;
  geometry.layout.rotation = 270;
  for (int i = 0; i < 3; ++i) {
    LayoutLine line;
    const auto y = static_cast<float>(10 + 30 * i);
    line.quad = {{{10, y}, {90, y + 1}, {90, y + 21}, {10, y + 20}}};
    line.block = i == 2 ? 1 : 0;
    geometry.layout.lines.push_back(line);
  }
  return geometry;
}

CropReading Reading(int line, int part, const std::string& text, std::vector<float> probabilities) {
  CropReading reading;
  reading.origin.line = line;
  reading.origin.part = part;
  reading.origin.quad = {{{1, 2}, {3, 2}, {3, 4}, {1, 4}}};
  reading.text = text;
  reading.probabilities = std::move(probabilities);
  return reading;
}

TEST(AssemblePageTest, PiecesBecomeLinesAndLinesBecomeBlocks) {
  const PageResult page =
      AssemblePage(ThreeLines(),
                   {Reading(0, 0, " one ", {0.5F, 1.0F}), Reading(0, 1, "two\n", {0.25F}),
                    Reading(1, 0, "three", {1.0F}), Reading(2, 0, "four", {0.75F})},
                   Granularity::kLine, "text");
  EXPECT_EQ(page.page, 4);
  EXPECT_EQ(page.rotation, 270);
  ASSERT_EQ(page.regions.size(), 2U);
  EXPECT_EQ(page.regions[0].text, "one two\nthree");
  EXPECT_EQ(page.regions[1].text, "four");
  ASSERT_EQ(page.regions[0].lines.size(), 2U);
  const LineResult& first = page.regions[0].lines[0];
  EXPECT_EQ(first.text, "one two");
  EXPECT_EQ(first.confidence.tokens, 3);
  EXPECT_NEAR(first.confidence.mean, 1.75 / 3, 1e-9);
  EXPECT_EQ(first.confidence.min, 0.25);
  EXPECT_EQ(first.quad[1].y, 11);
  EXPECT_EQ(first.box.y1, 31);
  EXPECT_EQ(page.regions[0].box.y1, 61);
  EXPECT_EQ(page.regions[0].confidence.tokens, 4);
}

TEST(AssemblePageTest, AFailedLineLeavesAnErrorAndTheRestIsKept) {
  std::vector<CropReading> readings = {Reading(0, 0, "one", {1}), Reading(1, 0, "", {}),
                                       Reading(2, 0, "three", {1})};
  readings[1].error = "too wide";
  const PageResult page = AssemblePage(ThreeLines(), readings, Granularity::kLine, "text");
  EXPECT_EQ(page.regions[0].error, "1 of 2 lines could not be read");
  EXPECT_EQ(page.regions[0].lines[1].error, "too wide");
  EXPECT_EQ(page.regions[0].text, "one");
  EXPECT_EQ(page.regions[1].error, "");
  EXPECT_EQ(page.error, "");
}

TEST(AssemblePageTest, WholeRegionsKeepTheirLineBreaksAndTheirCropsBox) {
  const PageResult page =
      AssemblePage(ThreeLines(), {Reading(0, 0, "a\nb\n", {0.5F})}, Granularity::kBlock, "table");
  ASSERT_EQ(page.regions.size(), 1U);
  EXPECT_EQ(page.regions[0].label, "table");
  EXPECT_EQ(page.regions[0].text, "a\nb");
  EXPECT_EQ(page.regions[0].box.x1, 3);
  EXPECT_TRUE(page.regions[0].lines.empty());
}

TEST(AssemblePageTest, ABlankPageHasNoRegions) {
  EXPECT_TRUE(AssemblePage(ThreeLines(), {}, Granularity::kLine, "text").regions.empty());
}

TEST(AssemblePageTest, ACropThatNamesNoLineOfTheLayoutStillHasAPlace) {
  const PageResult page =
      AssemblePage(ThreeLines(), {Reading(99, 0, "stray", {1})}, Granularity::kLine, "text");
  ASSERT_EQ(page.regions.size(), 1U);
  EXPECT_EQ(page.regions[0].box.x1, 3);
}

}  // namespace
}  // namespace platen
