// What is asked of a document decides how its regions are read.
#include "stages/layout/read_options.h"

#include <gtest/gtest.h>

#include "model/support/error.h"
#include "stages/crop_request.h"
#include "stages/layout/crops.h"

namespace platen {
namespace {

ReadingConfig Model(std::vector<std::string> tasks = {}) {
  ReadingConfig config;
  config.granularity = Granularity::kLine;
  config.line_height = 28;
  config.prompts = {{"text", "Text:"}, {"table", "Table:"}, {"formula", "Formula:"}};
  config.tasks = std::move(tasks);
  SetStandardKinds(config);
  return config;
}

LayoutRegion RegionOf(RegionKind kind, float y) {
  LayoutRegion region;
  region.kind = kind;
  region.source = RegionSource::kDetector;
  region.box = {10, y, 90, y + 30};
  region.quad = {{{10, y}, {90, y}, {90, y + 30}, {10, y + 30}}};
  LayoutLine line;
  line.quad = region.quad;
  line.box = region.box;
  region.lines = {line};
  return region;
}

PageLayout MixedPage() {
  PageLayout page;
  page.regions = {RegionOf(RegionKind::kText, 0), RegionOf(RegionKind::kTable, 40),
                  RegionOf(RegionKind::kFigure, 80)};
  return page;
}

std::vector<Crop> CropsOf(const ReadingConfig& config, const ReadOptions& options) {
  PageLayout layout = MixedPage();
  ApplyReadOptions(config, options, 100, 120, layout);
  return MakeCrops(Image(100, 120), layout, config, options);
}

TEST(ReadOptions, EachKindIsReadAsTheModelReadsIt) {
  const std::vector<Crop> crops = CropsOf(Model(), {});
  ASSERT_EQ(crops.size(), 2U);  // the figure is not read
  EXPECT_EQ(crops[0].origin.line, 0);
  EXPECT_EQ(crops[1].origin.region, 1);
  EXPECT_EQ(crops[1].origin.line, CropOrigin::kWholeRegion);
  EXPECT_EQ(crops[1].image.width, 80);
  EXPECT_EQ(crops[1].image.height, 30);
}

TEST(ReadOptions, KindsTheModelWasNotTrainedOnAreReadAsLinesOfText) {
  const ReadingConfig config = Model({"text"});
  const std::vector<Crop> crops = CropsOf(config, {});
  ASSERT_EQ(crops.size(), 2U);
  EXPECT_EQ(crops[1].origin.line, 0);
  EXPECT_EQ(CropRequest(RegionKind::kTable, config, {}).task_text, "Text:");
}

TEST(ReadOptions, ATaskIsForAllRegions) {
  const ReadingConfig config = Model({"text"});
  ReadOptions options;
  options.task = "table";
  PageLayout layout = MixedPage();
  ApplyReadOptions(config, options, 100, 120, layout);
  for (const LayoutRegion& region : layout.regions) {
    EXPECT_EQ(region.kind, RegionKind::kTable);
    EXPECT_TRUE(region.read);
  }
  EXPECT_EQ(CropRequest(RegionKind::kTable, config, options).task_text, "Table:");
  options.task = "poem";
  EXPECT_THROW(ApplyReadOptions(config, options, 100, 120, layout), Error);
}

TEST(ReadOptions, AGranularityIsForAllRegions) {
  ReadOptions options;
  options.granularity = Granularity::kLine;
  EXPECT_EQ(CropsOf(Model(), options)[1].origin.line, 0);
  options.granularity = Granularity::kPage;
  const std::vector<Crop> page = CropsOf(Model(), options);
  ASSERT_EQ(page.size(), 1U);
  EXPECT_EQ(page[0].image.width, 100);
  EXPECT_EQ(page[0].image.height, 120);
}

TEST(ReadOptions, LimitsComeFromTheRequestThenFromTheKind) {
  ReadingConfig config = Model();
  config.kinds[static_cast<size_t>(RegionKind::kTable)].max_new_tokens = 900;
  EXPECT_EQ(CropRequest(RegionKind::kTable, config, {}).max_new_tokens, 900);
  EXPECT_EQ(CropRequest(RegionKind::kText, config, {}).max_new_tokens, 0);
  ReadOptions options;
  options.max_new_tokens = 7;
  options.sampling.repetition_penalty = 1.5F;
  EXPECT_EQ(CropRequest(RegionKind::kTable, config, options).max_new_tokens, 7);
  EXPECT_EQ(CropRequest(RegionKind::kTable, config, options).sampling.repetition_penalty, 1.5F);
}

TEST(ReadOptions, ARegionBeyondThePageGivesACropWithinIt) {
  PageLayout layout;
  layout.regions = {RegionOf(RegionKind::kTable, 0)};
  layout.regions[0].box = {-20, 90, 500, 400};
  const std::vector<Crop> crops = MakeCrops(Image(100, 120), layout, Model(), {});
  ASSERT_EQ(crops.size(), 1U);
  EXPECT_EQ(crops[0].image.width, 100);
  EXPECT_EQ(crops[0].image.height, 30);
  layout.regions[0].box = {300, 300, 400, 400};
  EXPECT_EQ(MakeCrops(Image(100, 120), layout, Model(), {})[0].image.width, 1);
}

}  // namespace
}  // namespace platen
