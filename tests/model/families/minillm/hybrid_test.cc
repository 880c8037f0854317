// A decoder of this family behind GLM-OCR's images, against the reference's arrays and traces.
#include <gtest/gtest.h>

#include "model/families/inspect.h"
#include "tests/support/family_properties.h"
#include "tests/support/golden_rounds.h"
#include "tests/support/minillm.h"

namespace platen::testing {
namespace {

constexpr const char* kHybrid = "tests/golden/minillm/mini-hybrid";
constexpr const char* kCases[] = {"exif6", "two_images", "text_only"};

std::unique_ptr<Snapshot> LoadHybrid() {
  return std::make_unique<Snapshot>(LoadSnapshot(SourcePath(kHybrid)));
}

GoldenCase CaseOf(const std::string& name) { return GoldenCase(std::string(kHybrid) + "/" + name); }

TEST(Hybrid, EveryStageIsTheReferences) {
  const Model model(LoadHybrid(), BestKernels());
  for (const char* name : kCases) {
    const GoldenCase golden = CaseOf(name);
    Recorder recorder;
    EngineOptions options;
    options.instruments.observer = recorder.observer();
    Engine engine(model, options);
    Request request = GoldenRequest(model, golden);
    request.ignore_stop = true;
    request.max_new_tokens = 1;
    const auto sequence = RunToEnd(engine, std::move(request));
    EXPECT_EQ(sequence->prompt.input_ids, Ids(golden.json["tokens"])) << name;
    EXPECT_EQ(sequence->prompt.rope_delta, 0);
    const std::vector<int64_t> positions = golden.Array("position_ids").i64;
    for (const std::vector<int32_t>& axis : sequence->prompt.positions) {
      EXPECT_TRUE(std::ranges::equal(axis, positions)) << name;
    }
    recorder.arrays["norm"] = recorder.arrays["hidden"];
    int compared = 0;
    for (const auto& [array, values] : recorder.arrays) {
      if (!golden.json["arrays"].contains(array)) continue;
      EXPECT_TRUE(AllClose(values, golden.Array(array).f32, golden.Atol(array)))
          << name << " " << array;
      ++compared;
    }
    EXPECT_GE(compared, 9) << name;
  }
}

TEST(Hybrid, TokensAndRoundsAreTheReferences) {
  const Model model(LoadHybrid(), BestKernels());
  for (const char* name : kCases) {
    SCOPED_TRACE(name);
    const GoldenCase golden = CaseOf(name);
    ExpectRunsEqual(model, ReadJson(golden.folder + "/speculative.json"),
                    [&](const nlohmann::json&) { return GoldenRequest(model, golden); });
  }
}

TEST(Hybrid, IsInspectedWithItsImages) {
  const InspectReport report = InspectSnapshot(SourcePath(kHybrid));
  EXPECT_TRUE(report.usable()) << FormatInspectReport(report);
  for (const char* fact : {"MiniLLM behind GLM-OCR's images", "vision model", "image ids"}) {
    EXPECT_NE(FormatInspectReport(report).find(fact), std::string::npos) << fact;
  }
}

std::vector<Request> Requests(const Model& model) {
  std::vector<Request> requests;
  for (const char* name : {"exif6", "text_only", "two_images", "exif6"}) {
    requests.push_back(GoldenRequest(model, CaseOf(name)));
    requests.back().task_text += std::to_string(requests.size());
  }
  return requests;
}

INSTANTIATE_TEST_SUITE_P(
    Hybrid, FamilyProperties,
    ::testing::Values(FamilyCase{"hybrid", Precision::kF32, LoadHybrid, Requests},
                      FamilyCase{"hybrid", Precision::kInt8, LoadHybrid, Requests}),
    FamilyCaseName);

}  // namespace
}  // namespace platen::testing
