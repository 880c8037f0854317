// The rule by which group sizes are chosen, and what it is fed with.
#include "bench/group_choice.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stages/layout/regions.h"
#include "tests/support/npy.h"

namespace platen {
namespace {

TEST(KindOfTest, LayersOfOneKindShareAName) {
  EXPECT_EQ(PatternOf("model.visual.blocks.13.mlp.down_proj"),
            "model.visual.blocks.*.mlp.down_proj");
  EXPECT_EQ(PatternOf("lm_head"), "lm_head");
  EXPECT_EQ(PatternOf("a.b2.3x.4"), "a.b2.3x.*");
  EXPECT_EQ(PatternOf("7.a"), "*.a");
}

// Errors that add `added` to a smallest of 1 %.
double With(double added) { return std::sqrt(0.01 * 0.01 + added * added); }

TEST(ChooseGroupTest, TakesTheLargestThatStaysWithinTheBound) {
  const std::vector<double> errors = {0.01, With(0.004), With(0.0099), With(0.0101), With(0.02)};
  EXPECT_EQ(ChooseGroup(errors, 0.01), 256);
  EXPECT_EQ(ChooseGroup(errors, 0.001), 64);
  EXPECT_EQ(ChooseGroup(errors, 0.011), 512);
  EXPECT_EQ(ChooseGroup(errors, 0.5), WeightFormat::kWholeDepth);
}

TEST(ChooseGroupTest, ALargerGroupThatHappensToBeBetterIsTaken) {
  EXPECT_EQ(ChooseGroup({0.01, 0.02, 0.009, 0.03, 0.03}, 0.001), 256);
}

TEST(PlanOfTest, NamesOnlyWhatDiffersFromTheDefault) {
  const std::vector<KindErrors> kinds = {
      {"a", 1536, {}, 256},                       // the default
      {"b", 1536, {}, 128},                       //
      {"c", 192, {}, WeightFormat::kWholeDepth},  // 256 is the whole depth as well
      {"d", 1536, {}, WeightFormat::kWholeDepth},
      {"e", 192, {}, 512},
      {"f", 192, {}, 128},
  };
  const QuantizationPlan plan = PlanOf(kinds);
  EXPECT_EQ(plan.group(), 256);
  EXPECT_EQ(plan.patterns(),
            (std::map<std::string, int>{{"b", 128}, {"d", WeightFormat::kWholeDepth}, {"f", 128}}));
}

class GroupsOfTheBundledModel : public ::testing::Test {
 protected:
  static std::unique_ptr<Model> Load(Precision precision, int group) {
    auto snapshot =
        std::make_unique<Snapshot>(LoadSnapshot(testing::SourcePath("assets/platen-mini")));
    QuantizationPlan plan;
    plan.set_group(group);
    snapshot->quantization = plan;
    return std::make_unique<Model>(std::move(snapshot), BestKernels(), precision);
  }

  // One region of random pixels.
  static PageReading Read(const Model& model) {
    PageReaderOptions options;
    options.read.max_new_tokens = 5;
    options.kv_cache_bytes = 1 << 24;
    PageLayout layout;
    layout.letter_height = 11;
    LayoutLine line;
    line.quad = {PointF{10, 10}, {200, 10}, {200, 38}, {10, 38}};
    line.box = {10, 10, 200, 38};
    line.baseline = 20;
    line.letter_height = 11;
    layout.regions.push_back(RegionOfLines({line}, 0));
    Image page(220, 60);
    for (size_t i = 0; i < page.rgb.size(); ++i) page.rgb[i] = static_cast<uint8_t>(i * 7919 >> 3);
    PageReader reader(model, options);
    return reader.Read(page, layout);
  }
};

TEST_F(GroupsOfTheBundledModel, SmallerGroupsAreCloserToF32) {
  const auto f32 = Load(Precision::kF32, 256);
  ActivationSamples samples(*f32);
  const PageReading page = Read(*f32);
  ASSERT_EQ(page.crops.size(), 1U);
  ASSERT_EQ(page.crops[0].error, "");
  samples.AddPage(page);
  std::vector<KindErrors> kinds;
  for (const int group : kGroupCandidates) {
    AddErrors(*f32, *Load(Precision::kInt8, group), samples, kinds);
  }
  bool grew = false;
  for (const KindErrors& kind : kinds) {
    ASSERT_EQ(kind.errors.size(), std::size(kGroupCandidates)) << kind.kind;
    EXPECT_GT(kind.errors.front(), 0) << kind.kind;
    EXPECT_LT(kind.errors.back(), 0.2) << kind.kind;
    // Groups beyond the depth are one and the same.
    if (kind.depth <= 256) {
      EXPECT_EQ(kind.errors[2], kind.errors[4]) << kind.kind;
    } else {
      grew = grew || kind.errors.back() > 1.1 * kind.errors.front();
    }
  }
  EXPECT_TRUE(grew);
}

TEST_F(GroupsOfTheBundledModel, EveryLinearButTheDraftLayersIsSampled) {
  const auto f32 = Load(Precision::kF32, 256);
  ActivationSamples samples(*f32);
  samples.AddPage(Read(*f32));
  for (const Module& module : f32->modules().modules()) {
    if (!module.is_linear()) continue;
    const ConstMatView rows = samples.Rows(*module.linear());
    EXPECT_EQ(rows.rows > 0, module.rows_of != RowsOf::kDraft) << module.name;
    EXPECT_LE(rows.rows, 512);
  }
}

// The plan of a snapshot decides how its weights are packed.
TEST_F(GroupsOfTheBundledModel, ThePlanReachesTheWeights) {
  EXPECT_GT(Load(Precision::kInt8, 64)->modules().PackedBytes(),
            Load(Precision::kInt8, 512)->modules().PackedBytes());
}

}  // namespace
}  // namespace platen
