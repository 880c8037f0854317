// Crops' readings become a page.
#include "stages/assemble.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

// Two regions: lines 0 and 1, and line 2.
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
    line.baseline = 15;
    if (i != 1) geometry.layout.regions.emplace_back();
    geometry.layout.regions.back().lines.push_back(line);
  }
  return geometry;
}

ReadingConfig ByLine() {
  ReadingConfig config;
  config.granularity = Granularity::kLine;
  return config;
}

CropReading Reading(int line, int part, const std::string& text, std::vector<float> probabilities) {
  CropReading reading;
  reading.origin.region = line / 2;
  reading.origin.line = line % 2;
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
                   ByLine());
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

TEST(AssemblePageTest, ACheckBoxStandsBeforeTheTextOfItsLine) {
  PageGeometry geometry = ThreeLines();
  geometry.layout.regions[0].lines[0].check_box = CheckBox::kTicked;
  geometry.layout.regions[0].lines[1].check_box = CheckBox::kEmpty;
  CropReading first = Reading(0, 0, "one two", {1, 1});
  first.token_ends = {3, 7};
  const PageResult page = AssemblePage(
      geometry, {first, Reading(1, 0, "three", {1}), Reading(2, 0, "four", {1})}, ByLine());
  ASSERT_EQ(page.regions.size(), 3U);  // two items and a line
  EXPECT_EQ(page.regions[0].text, "\u2612 one two");
  EXPECT_EQ(page.regions[1].text, "\u2610 three");
  EXPECT_EQ(page.regions[2].text, "four");
  const LineResult& line = page.regions[0].lines[0];
  ASSERT_EQ(line.words.size(), 2U);
  EXPECT_EQ(line.text.substr(static_cast<size_t>(line.words[0].begin), 3), "one");
  EXPECT_EQ(line.tokens.front().end, 7);
}

TEST(AssemblePageTest, AFailedLineLeavesAnErrorAndTheRestIsKept) {
  std::vector<CropReading> readings = {Reading(0, 0, "one", {1}), Reading(1, 0, "", {}),
                                       Reading(2, 0, "three", {1})};
  readings[1].error = "too wide";
  const PageResult page = AssemblePage(ThreeLines(), readings, ByLine());
  EXPECT_EQ(page.regions[0].error, "1 of 2 lines could not be read");
  EXPECT_EQ(page.regions[0].lines[1].error, "too wide");
  EXPECT_EQ(page.regions[0].text, "one");
  EXPECT_EQ(page.regions[1].error, "");
  EXPECT_EQ(page.error, "");
}

TEST(AssemblePageTest, WholeRegionsKeepTheirLineBreaksAndTheirCropsBox) {
  PageGeometry geometry = ThreeLines();
  geometry.layout.regions[0].kind = RegionKind::kTable;
  CropReading whole = Reading(0, 0, "a\nb\n", {0.5F, 0.25F});
  whole.origin.line = CropOrigin::kWholeRegion;
  whole.token_ends = {2, 4};
  ReadingConfig config;
  config.kinds[static_cast<size_t>(RegionKind::kTable)].syntax = TextSyntax::kHtml;
  const PageResult page = AssemblePage(geometry, {whole}, config);
  ASSERT_EQ(page.regions.size(), 1U);
  EXPECT_EQ(page.regions[0].kind, RegionKind::kTable);
  EXPECT_EQ(page.regions[0].syntax, TextSyntax::kHtml);
  ASSERT_EQ(page.regions[0].tokens.size(), 2U);
  EXPECT_EQ(page.regions[0].tokens[1].end, 3);  // without the line break at the end
  EXPECT_EQ(page.regions[0].tokens[1].probability, 0.25);
  EXPECT_EQ(page.regions[0].text, "a\nb");
  EXPECT_EQ(page.regions[0].box.x1, 3);
  EXPECT_TRUE(page.regions[0].lines.empty());
}

TEST(AssemblePageTest, ARegionThatIsNotReadKeepsItsPlace) {
  PageGeometry geometry = ThreeLines();
  geometry.dpi_x = 300;
  LayoutRegion figure;
  figure.kind = RegionKind::kFigure;
  figure.read = false;
  figure.score = 0.5F;
  figure.native_label = "footer_image";
  figure.quad = {{{5, 5}, {9, 5}, {9, 8}, {5, 8}}};
  auto& regions = geometry.layout.regions;
  regions.insert(regions.begin() + 1, figure);
  CropReading last = Reading(2, 0, "three", {1});
  last.origin.region = 2;
  const PageResult page = AssemblePage(geometry, {Reading(0, 0, "one", {1}), last}, ByLine());
  ASSERT_EQ(page.regions.size(), 3U);
  EXPECT_EQ(page.regions[1].kind, RegionKind::kFigure);
  EXPECT_EQ(page.regions[1].box.x1, 9);
  EXPECT_EQ(page.regions[1].score, 0.5);
  EXPECT_EQ(page.regions[1].native_label, "footer_image");
  EXPECT_EQ(page.regions[0].native_label, "");
  EXPECT_EQ(page.regions[2].text, "three");
  EXPECT_EQ(page.dpi_x, 300);
  geometry.layout.regions = {figure};
  EXPECT_EQ(AssemblePage(geometry, {}, ByLine()).regions.size(), 1U);
}

TEST(AssemblePageTest, TokensAndWordsOfPiecesBecomeThoseOfTheLine) {
  CropReading first = Reading(0, 0, " one two", {0.5F, 1.0F}),
              second = Reading(0, 1, "six", {0.25F});
  first.token_ends = {4, 8};
  second.token_ends = {3};
  second.origin.quad = {{{5, 2}, {7, 2}, {7, 4}, {5, 4}}};
  const PageResult page = AssemblePage(ThreeLines(), {first, second}, ByLine());
  const LineResult& line = page.regions[0].lines[0];
  EXPECT_EQ(line.text, "one two six");
  ASSERT_EQ(line.tokens.size(), 3U);
  EXPECT_EQ(line.tokens[0].end, 3);
  EXPECT_EQ(line.tokens[2].end, 11);
  ASSERT_EQ(line.words.size(), 3U);
  EXPECT_EQ(line.text.substr(4, 3), "two");
  EXPECT_EQ(line.words[1].begin, 4);
  EXPECT_EQ(line.words[1].end, 7);
  EXPECT_EQ(line.words[1].confidence, 1.0);
  EXPECT_EQ(line.words[2].begin, 8);
  EXPECT_EQ(line.words[2].quad[0].x, 5);
  EXPECT_NEAR(line.baseline[0].y, 25, 0.01);
  EXPECT_NEAR(line.baseline[1].y, 26, 0.01);
}

TEST(AssemblePageTest, ABlankPageHasNoRegions) {
  EXPECT_TRUE(AssemblePage(ThreeLines(), {}, ByLine()).regions.empty());
}

TEST(AssemblePageTest, ACropThatNamesNoLineOfTheLayoutStillHasAPlace) {
  const PageResult page = AssemblePage(ThreeLines(), {Reading(99, 0, "stray", {1})}, ByLine());
  ASSERT_EQ(page.regions.size(), 1U);
  EXPECT_EQ(page.regions[0].box.x1, 3);
}

}  // namespace
}  // namespace platen
