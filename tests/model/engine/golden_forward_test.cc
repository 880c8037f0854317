// Every stage of the forward pass against arrays computed by the reference implementation.
#include <gtest/gtest.h>

#include "tests/support/golden.h"

namespace platen::testing {
namespace {

struct CaseName {
  std::string snapshot;
  std::string name;
};

void PrintTo(const CaseName& c, std::ostream* out) { *out << c.snapshot << "/" << c.name; }

class GoldenForward : public ::testing::TestWithParam<CaseName> {
 protected:
  const Model& model_ = GoldenModel(GetParam().snapshot);
  const GoldenCase golden_{"tests/golden/cases/" + GetParam().snapshot + "/" + GetParam().name};
};

// The golden keeps the last four rows of text stacks.
std::span<const float> LastRows(const std::vector<float>& all, size_t count) {
  return std::span(all).last(std::min(count, all.size()));
}

TEST_P(GoldenForward, EveryStageIsWithinTheReferencesTolerance) {
  Recorder recorder;
  EngineOptions options;
  options.draft_length = 0;
  options.instruments.observer = recorder.observer();
  Engine engine(model_, options);
  Request request = GoldenRequest(model_, golden_);
  request.max_new_tokens = 1;
  RunToEnd(engine, std::move(request));

  int compared = 0;
  for (const auto& [name, entry] : golden_.json["arrays"].items()) {
    if (!entry.contains("atol") || name.starts_with("pixel_values")) continue;
    const std::string ours = name.ends_with("_last4") ? name.substr(0, name.size() - 6) : name;
    ASSERT_TRUE(recorder.arrays.contains(ours)) << name << " was never reported";
    const Npy expected = golden_.Array(name);
    EXPECT_TRUE(AllClose(LastRows(recorder.arrays[ours], expected.f32.size()), expected.f32,
                         golden_.Atol(name)))
        << name;
    ++compared;
  }
  EXPECT_GE(compared, 4);
}

TEST_P(GoldenForward, GreedyTokensAreEqual) {
  for (const int draft_length : {0, 3}) {
    EngineOptions options;
    options.draft_length = draft_length;
    options.kv_block_tokens = 16;
    Engine engine(model_, options);
    Request request = GoldenRequest(model_, golden_);
    const std::vector<TokenId> expected = Ids(golden_.json["greedy"]["tokens"]);
    request.max_new_tokens = static_cast<int>(expected.size());
    request.ignore_stop = true;
    EXPECT_EQ(Decided(*RunToEnd(engine, std::move(request))), expected)
        << "draft length " << draft_length;
  }
}

std::vector<CaseName> AllCases() {
  std::vector<CaseName> cases;
  for (const char* snapshot : {"tiny-a", "tiny-b", "tiny-c"}) {
    for (const char* name : {"tiny20", "tall30x400", "gray", "rgba", "exif6", "palette", "gray16",
                             "two_images", "text_only"}) {
      cases.push_back({snapshot, name});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenForward, ::testing::ValuesIn(AllCases()),
                         [](const auto& test) {
                           std::string name = test.param.snapshot + "_" + test.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace platen::testing
