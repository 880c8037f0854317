// Group sizes of int8 weights as platen.json gives them.
#include "model/checkpoint/quantization_plan.h"

#include <gtest/gtest.h>

#include "model/families/reading_config.h"
#include "model/families/registry.h"
#include "model/support/error.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::SourcePath;
using testing::TempFolder;

TEST(MatchesPatternTest, AStarStandsForAnythingButADot) {
  EXPECT_TRUE(MatchesPattern("a.*.c", "a.12.c"));
  EXPECT_TRUE(MatchesPattern("a.*.c", "a..c"));
  EXPECT_TRUE(MatchesPattern("*", "abc"));
  EXPECT_TRUE(MatchesPattern("*b*b", "abab"));
  EXPECT_TRUE(MatchesPattern("ab*", "ab"));
  EXPECT_TRUE(MatchesPattern("x.*_proj", "x.down_proj"));
  EXPECT_FALSE(MatchesPattern("*", "a.b"));
  EXPECT_FALSE(MatchesPattern("a.*.c", "a.1.2.c"));
  EXPECT_FALSE(MatchesPattern("a*", "ba"));
  EXPECT_FALSE(MatchesPattern("a", "ab"));
  EXPECT_FALSE(MatchesPattern("", "a"));
  EXPECT_TRUE(MatchesPattern("", ""));
}

TEST(MatchesPatternTest, ManyStarsTakeNoLonger) {
  std::string pattern, name(4000, 'a');
  for (int i = 0; i < 60; ++i) pattern += "a*";
  EXPECT_FALSE(MatchesPattern(pattern + "b", name));
}

// Names of the linears of the golden snapshot tiny-a.
std::vector<std::string> LinearsOfTinyA() {
  const std::string dir = SourcePath("tests/golden/snapshots/tiny-a");
  return FamilyRegistry::BuiltIn().Read(dir)->Modules().LinearNames();
}

// This platen.json beside the golden snapshot tiny-a.
class PlanFile {
 public:
  explicit PlanFile(const std::string& platen_json) { folder_.Write("platen.json", platen_json); }
  QuantizationPlan Read() const {
    const std::string path = folder_.path() + "/platen.json";
    QuantizationPlan plan = ReadQuantizationPlan(path);
    plan.Check(LinearsOfTinyA(), path);
    return plan;
  }
  // "field: reason" of the refusal; "" if it is accepted.
  std::string Refusal() const {
    try {
      Read();
      return "";
    } catch (const Error& error) {
      EXPECT_TRUE(error.location().file.ends_with("platen.json"));
      return error.location().field + ": " + error.reason();
    }
  }

 private:
  TempFolder folder_;
};

TEST(QuantizationPlanTest, WithoutAPlanEveryLinearHasTheDefaultGroup) {
  const QuantizationPlan plan = PlanFile("{}").Read();
  for (const std::string& name : LinearsOfTinyA()) {
    EXPECT_EQ(plan.GroupOf(name), 256) << name;
  }
}

TEST(QuantizationPlanTest, PatternsOverrideTheGroupOfTheirLinears) {
  const QuantizationPlan plan =
      PlanFile(R"({"int8": {"group": 512, "groups": {"model.visual.blocks.*.mlp.down_proj": 128,
                   "model.visual.downsample": 0, "model.language_model.layers.1.self_attn.*": 64,
                   "model.language_model.layers.1.self_attn.qkv": 64}}})")
          .Read();
  EXPECT_EQ(plan.group(), 512);
  EXPECT_EQ(plan.GroupOf("model.visual.blocks.0.mlp.down_proj"), 128);
  EXPECT_EQ(plan.GroupOf("model.visual.blocks.1.mlp.down_proj"), 128);
  EXPECT_EQ(plan.GroupOf("model.visual.blocks.1.mlp.gate_up"), 512);
  EXPECT_EQ(plan.GroupOf("model.visual.downsample"), WeightFormat::kWholeDepth);
  EXPECT_EQ(plan.GroupOf("model.language_model.layers.1.self_attn.o_proj"), 64);
  EXPECT_EQ(plan.GroupOf("model.language_model.layers.0.self_attn.o_proj"), 512);
}

TEST(QuantizationPlanTest, FaultsNameThePatternAndTheReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"int8": 256})", "int8: must be an object"},
      {R"({"int8": {"gruop": 256}})", "int8.gruop: unknown key; did you mean \"group\"?"},
      {R"({"int8": {"group": 100}})", "int8.group: must be a multiple of 64"},
      {R"({"int8": {"group": -64}})", "int8.group: must lie in 0..65536"},
      {R"({"int8": {"group": 65600}})", "int8.group: must lie in 0..65536"},
      {R"({"int8": {"group": "256"}})", "int8.group: must be a whole number"},
      {R"({"int8": {"groups": [64]}})", "int8.groups: must be an object"},
      {R"({"int8": {"groups": {"lm_head": 1}}})", "int8.groups.lm_head: must be a multiple of 64"},
      {R"({"int8": {"groups": {"model.visual.downsampel": 64}}})",
       "int8.groups.model.visual.downsampel: names no linear of this model; did you mean "
       "model.visual.downsample?"},
      {R"({"int8": {"groups": {"model.visual.blocks.9*.attn.qkv": 64}}})", "names no linear"},
      {R"({"int8": {"groups": {"": 64}}})", "names no linear"},
      {R"({"int8": {"groups": {"model.visual.merger.*": 64, "model.visual.merger.proj": 128}}})",
       "int8.groups.model.visual.merger.proj: gives model.visual.merger.proj another group than "
       "model.visual.merger.* does"},
  };
  for (const auto& [json, expected] : cases) {
    const std::string refusal = PlanFile(json).Refusal();
    EXPECT_NE(refusal.find(expected), std::string::npos) << json << "\n" << refusal;
  }
}

TEST(QuantizationPlanTest, TooManyOrTooLongPatternsAreRefused) {
  std::string many = R"({"int8": {"groups": {"lm_head": 64)";
  for (int i = 0; i < 1001; ++i) many += ", \"p" + std::to_string(i) + "\": 64";
  EXPECT_NE(PlanFile(many + "}}}").Refusal().find("more than 1000"), std::string::npos);
  const std::string longest = R"({"int8": {"groups": {")" + std::string(300, 'x') + R"(": 64}}})";
  EXPECT_NE(PlanFile(longest).Refusal().find("too long"), std::string::npos);
}

}  // namespace
}  // namespace platen
