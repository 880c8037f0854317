// Regions of a detector and lines of the classical one become one layout.
#include "stages/layout/regions.h"

#include <gtest/gtest.h>

#include <random>

#include "model/support/error.h"
#include "stages/layout/region_detector.h"
#include "tests/support/page_crops.h"

namespace platen {
namespace {

using testing::LinesOf;

std::array<PointF, 4> QuadOf(const BoxF& box) {
  return {{{box.x0, box.y0}, {box.x1, box.y0}, {box.x1, box.y1}, {box.x0, box.y1}}};
}

LayoutLine LineAt(float x0, float y0, float x1, float y1) {
  LayoutLine line;
  line.box = {x0, y0, x1, y1};
  line.quad = QuadOf(line.box);
  return line;
}

LayoutRegion RegionAt(RegionKind kind, const BoxF& box) {
  LayoutRegion region;
  region.kind = kind;
  region.box = box;
  region.quad = QuadOf(box);
  region.score = 0.9F;
  return region;
}

// One paragraph of `count` lines, 20 high, from y = 100 on.
PageLayout Paragraph(int count) {
  std::vector<LayoutLine> lines;
  for (int i = 0; i < count; ++i) {
    const auto y = static_cast<float>(100 + 24 * i);
    lines.push_back(LineAt(100, y, 500, y + 20));
  }
  PageLayout page;
  page.letter_height = 10;
  page.regions.push_back(RegionOfLines(lines, 0));
  return page;
}

TEST(RegionOfLines, RunsAlongTheSkew) {
  const double degrees = 10, radians = degrees * 3.14159265 / 180;
  std::vector<LayoutLine> lines;
  for (int i = 0; i < 3; ++i) {
    LayoutLine line;
    const auto turned = [&](double x, double y) {
      return PointF{static_cast<float>(x * std::cos(radians) - y * std::sin(radians)),
                    static_cast<float>(x * std::sin(radians) + y * std::cos(radians))};
    };
    const double y = 200 + 30 * i;
    line.quad = {turned(100, y), turned(400, y), turned(400, y + 20), turned(100, y + 20)};
    line.box = {line.quad[3].x, line.quad[0].y, line.quad[1].x, line.quad[2].y};
    lines.push_back(line);
  }
  const LayoutRegion region = RegionOfLines(lines, degrees);
  for (int corner : {0, 1}) {
    EXPECT_NEAR(region.quad[corner].x, lines.front().quad[corner].x, 0.01);
    EXPECT_NEAR(region.quad[corner].y, lines.front().quad[corner].y, 0.01);
  }
  for (int corner : {2, 3}) {
    EXPECT_NEAR(region.quad[corner].x, lines.back().quad[corner].x, 0.01);
    EXPECT_NEAR(region.quad[corner].y, lines.back().quad[corner].y, 0.01);
  }
  EXPECT_EQ(region.kind, RegionKind::kText);
  EXPECT_EQ(region.box.y1, lines.back().box.y1);
}

TEST(MergeRegions, LinesGoToTheRegionThatCoversThem) {
  const PageLayout page =
      MergeRegions({RegionAt(RegionKind::kTable, {90, 96, 510, 146})}, Paragraph(4));
  ASSERT_EQ(page.regions.size(), 2U);
  EXPECT_EQ(page.regions[0].kind, RegionKind::kTable);
  EXPECT_EQ(page.regions[0].source, RegionSource::kDetector);
  EXPECT_EQ(page.regions[0].lines.size(), 2U);
  EXPECT_EQ(page.regions[1].kind, RegionKind::kText);
  EXPECT_EQ(page.regions[1].source, RegionSource::kLines);
  EXPECT_EQ(page.regions[1].lines.size(), 2U);
}

TEST(MergeRegions, TextAroundARegionIsSplitAndKeepsItsOrder) {
  const PageLayout page =
      MergeRegions({RegionAt(RegionKind::kFormula, {90, 146, 510, 170})}, Paragraph(5));
  ASSERT_EQ(page.regions.size(), 3U);
  EXPECT_EQ(page.regions[0].lines.size(), 2U);
  EXPECT_EQ(page.regions[1].kind, RegionKind::kFormula);
  EXPECT_EQ(page.regions[1].lines.size(), 1U);
  EXPECT_EQ(page.regions[2].lines.size(), 2U);
}

TEST(MergeRegions, ALineIsTheRegionsOnlyIfHalfOfItLiesThere) {
  const auto owned = [](float x1) {
    const PageLayout page =
        MergeRegions({RegionAt(RegionKind::kFigure, {0, 90, x1, 130})}, Paragraph(1));
    return page.regions.size() == 1;
  };
  EXPECT_FALSE(owned(295));
  EXPECT_TRUE(owned(305));
}

// Two columns of `rows` lines, and a grid over them.
LayoutRegion Grid(int rows) {
  std::vector<LayoutLine> lines;
  TableLayout table = {rows, 2, {}};
  for (int i = 0; i < 2 * rows; ++i) {
    const auto x = static_cast<float>(100 + 200 * (i % 2)),
               y = static_cast<float>(100 + 24 * (i / 2));
    lines.push_back(LineAt(x, y, x + 150, y + 20));
    table.cells.push_back({i / 2, i % 2, 1, 1, {}, {i}});
  }
  LayoutRegion region = RegionOfLines(std::move(lines), 0);
  region.kind = RegionKind::kTable;
  region.table = std::move(table);
  return region;
}

TEST(MergeRegions, ADetectedTableHasTheCellsOfTheLinesItHas) {
  const auto cells = [](const BoxF& box, RegionKind kind, const LayoutLine* extra) {
    PageLayout page;
    page.letter_height = 10;
    page.regions.push_back(Grid(3));
    if (extra != nullptr) page.regions.push_back(RegionOfLines({*extra}, 0));
    const PageLayout merged = MergeRegions({RegionAt(kind, box)}, page);
    for (const LayoutRegion& region : merged.regions) {
      if (region.source == RegionSource::kDetector && region.table) {
        EXPECT_EQ(region.lines.size(), 6u);
        return static_cast<int>(region.table->cells.size());
      }
    }
    return 0;
  };
  const BoxF whole = {90, 90, 460, 200}, part = {90, 90, 460, 140};
  EXPECT_EQ(cells(whole, RegionKind::kTable, nullptr), 6);
  EXPECT_EQ(cells(whole, RegionKind::kText, nullptr), 0);
  EXPECT_EQ(cells(part, RegionKind::kTable, nullptr), 0) << "a line is not in it";
  const LayoutLine extra = LineAt(100, 174, 400, 194);
  EXPECT_EQ(cells(whole, RegionKind::kTable, &extra), 0) << "a line is in no cell";
}

TEST(MergeRegions, NoDetectionLeavesTheLayoutAsItIs) {
  const PageLayout before = Paragraph(6);
  const PageLayout after = MergeRegions({}, before);
  ASSERT_EQ(after.regions.size(), 1U);
  EXPECT_EQ(after.regions[0].lines.size(), 6U);
  EXPECT_EQ(after.regions[0].quad[2].x, before.regions[0].quad[2].x);
}

TEST(MergeRegions, NoLineIsLostOrDoubledWhateverTheBoxes) {
  std::mt19937 random(20261123);
  const auto at = [&](int limit) {
    return static_cast<float>(random() % static_cast<unsigned>(limit));
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<LayoutRegion> detected;
    for (size_t i = random() % 6; i > 0; --i) {
      const float x = at(600), y = at(600);  // also empty boxes
      detected.push_back(RegionAt(static_cast<RegionKind>(random() % kNumRegionKinds),
                                  {x, y, x + at(500), y + at(500)}));
    }
    const size_t regions = detected.size();
    const PageLayout before = Paragraph(12);
    const PageLayout after = MergeRegions(detected, before);
    ASSERT_EQ(LinesOf(after).size(), 12U) << round;
    float sum = 0;
    for (const LayoutLine& line : LinesOf(after)) sum += line.box.y0;
    for (const LayoutLine& line : LinesOf(before)) sum -= line.box.y0;
    EXPECT_EQ(sum, 0) << round;
    ASSERT_GE(after.regions.size(), regions) << round;
  }
}

// A detector that knows one box.
class OneTable : public RegionDetector {
 public:
  std::vector<LayoutRegion> Detect(const Image& page) const override {
    EXPECT_GT(page.height, page.width);  // upright, though the page came turned
    return {RegionAt(RegionKind::kTable, {90, 90, 510, 130})};
  }
};

class TurnedParagraph : public LayoutDetector {
 public:
  PageLayout Detect(const Image&) const override {
    PageLayout page = Paragraph(3);
    page.rotation = 90;
    return page;
  }
};

// Below the paragraph, then above it: as a layout model may find a caption and its figure.
TEST(MergeRegions, ADetectorThatKnowsTheOrderIsFollowed) {
  const LayoutRegion lower = RegionAt(RegionKind::kCaption, {100, 400, 500, 420});
  const LayoutRegion upper = RegionAt(RegionKind::kFigure, {100, 20, 500, 80});
  const auto kinds = [](const PageLayout& page) {
    std::vector<RegionKind> all;
    for (const LayoutRegion& region : page.regions) all.push_back(region.kind);
    return all;
  };
  using Kinds = std::vector<RegionKind>;
  EXPECT_EQ(kinds(MergeRegions({lower, upper}, Paragraph(3))),
            (Kinds{RegionKind::kFigure, RegionKind::kText, RegionKind::kCaption}));
  // The text that it has not found follows what it follows on the page.
  EXPECT_EQ(kinds(MergeRegions({lower, upper}, Paragraph(3), RegionOrder::kReading)),
            (Kinds{RegionKind::kCaption, RegionKind::kFigure, RegionKind::kText}));
  EXPECT_EQ(kinds(MergeRegions({lower}, Paragraph(3), RegionOrder::kReading)),
            (Kinds{RegionKind::kText, RegionKind::kCaption}));
}

class Broken : public RegionDetector {
 public:
  std::vector<LayoutRegion> Detect(const Image&) const override {
    throw Error(ErrorKind::kInput, {}, "it gives no numbers");
  }
};

class UprightParagraph : public LayoutDetector {
 public:
  PageLayout Detect(const Image&) const override { return Paragraph(3); }
};

TEST(MergingDetector, APageThatItCannotCopeWithIsLaidOutByTheLinesAloneAndSaysSo) {
  const auto detector =
      MakeMergingDetector(std::make_unique<UprightParagraph>(), std::make_unique<Broken>());
  const PageLayout page = detector->Detect(Image(600, 800));
  ASSERT_EQ(page.regions.size(), 1U);
  EXPECT_EQ(page.regions[0].lines.size(), 3U);
  ASSERT_EQ(page.warnings.size(), 1U);
  EXPECT_NE(page.warnings[0].find("it gives no numbers"), std::string::npos) << page.warnings[0];
  EXPECT_TRUE(detector->WantsPagesInTurn());
  EXPECT_FALSE(MakeClassicalDetector()->WantsPagesInTurn());
}

// A layout model that finds two boxes and keeps the second.
class TwoBoxes : public LayoutModel {
 public:
  std::vector<Detection> Detect(const Image&, const ArrayObserver&) const override {
    return {{.kind = RegionKind::kText, .label = "text", .score = 0.4},
            {.kind = RegionKind::kCaption,
             .label = "figure_title",
             .score = 0.75,
             .x0 = 10.5,
             .y0 = 20,
             .x1 = 30,
             .y1 = 40.25}};
  }
  std::vector<Detection> Apply(BoxRules rules, std::vector<Detection> found, int width,
                               int height) const override {
    EXPECT_EQ(rules, BoxRules::kSdk);
    EXPECT_EQ(width, 60);
    EXPECT_EQ(height, 80);
    return {found.back()};
  }
};

TEST(ModelDetector, MakesRegionsOfTheBoxesThatTheRulesLeave) {
  const auto detector = MakeModelDetector(std::make_shared<TwoBoxes>(), BoxRules::kSdk);
  const std::vector<LayoutRegion> regions = detector->Detect(Image(60, 80));
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_EQ(regions[0].kind, RegionKind::kCaption);
  EXPECT_EQ(regions[0].native_label, "figure_title");
  EXPECT_EQ(regions[0].score, 0.75F);
  EXPECT_EQ(regions[0].source, RegionSource::kDetector);
  EXPECT_EQ(regions[0].box.x0, 10.5F);
  EXPECT_EQ(regions[0].quad[2].x, 30);
  EXPECT_EQ(regions[0].quad[2].y, 40.25F);
  EXPECT_EQ(detector->order(), RegionOrder::kReading);
}

TEST(MergingDetector, ShowsTheRegionDetectorTheUprightPage) {
  const auto detector =
      MakeMergingDetector(std::make_unique<TurnedParagraph>(), std::make_unique<OneTable>());
  const PageLayout page = detector->Detect(Image(800, 600));
  EXPECT_EQ(page.rotation, 90);
  ASSERT_EQ(page.regions.size(), 2U);
  EXPECT_EQ(page.regions[0].kind, RegionKind::kTable);
}

}  // namespace
}  // namespace platen
