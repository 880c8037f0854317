// The engine against speculative decoding written out plainly: token for token, round for round.
#include <gtest/gtest.h>

#include <map>

#include "tests/support/golden.h"
#include "tests/support/mirror_engine.h"

namespace platen {

static std::ostream& operator<<(std::ostream& out, const Round& r) {
  return out << "anchor " << r.anchor << " at row " << r.cache_len_before << ", drafts "
             << ::testing::PrintToString(r.drafts) << ", target "
             << ::testing::PrintToString(r.target_argmax) << ", accepted " << r.accepted;
}

static bool operator==(const Round& a, const Round& b) {
  return a.cache_len_before == b.cache_len_before && a.rope_position == b.rope_position &&
         a.anchor == b.anchor && a.drafts == b.drafts && a.target_argmax == b.target_argmax &&
         a.accepted == b.accepted && a.emitted == b.emitted;
}

namespace testing {
namespace {

constexpr const char* kCases[] = {"tiny20", "two_images", "text_only"};

struct MirrorCase {
  const char* snapshot;
  Precision precision;
};

class Mirror : public ::testing::TestWithParam<MirrorCase> {
 protected:
  const Model& model() const { return GoldenModel(GetParam().snapshot, GetParam().precision); }

  std::vector<Request> Requests() const {
    std::vector<Request> requests;
    for (const char* name : kCases) {
      requests.push_back(
          GoldenRequest(model(), GoldenCase(std::string("tests/golden/cases/tiny-a/") + name)));
      requests.back().max_new_tokens = 21;
      requests.back().ignore_stop = requests.size() % 2 == 0;
    }
    return requests;
  }

  void ExpectRoundsOfTheMirror(WarmUp warm_up) const;
};

// All requests share the engine's batches and blocks; each has a mirror of its own.
void Mirror::ExpectRoundsOfTheMirror(WarmUp warm_up) const {
  for (const int k : {0, 1, 2, 3, 5}) {
    std::map<SequenceId, std::vector<Round>> rounds;
    EngineOptions options;
    options.draft_length = k;
    options.drafters = DrafterChoice::kMtp;
    options.kv_block_tokens = 16;
    options.warm_up = warm_up;
    options.instruments.on_round = [&](const Round& r) { rounds[r.sequence].push_back(r); };
    Engine engine(model(), options);
    std::map<SequenceId, std::vector<Round>> expected;
    for (const Request& request : Requests()) {
      const Sequence* s = Start(engine, request);
      const auto mirrored = engine.Prepare(request);
      Sequence* raw = mirrored.get();
      engine.EncodeImages(std::span(&raw, 1));
      expected[s->id] = MirrorEngine(model(), k).Run(*mirrored);
      engine.Step();  // the others join while it decodes
    }
    while (engine.live() > 0) engine.Step();
    for (const auto& [id, mirror] : expected) {
      SCOPED_TRACE("k " + std::to_string(k) + ", sequence " +
                   std::to_string(static_cast<uint64_t>(id)));
      ASSERT_EQ(rounds[id].size(), mirror.size());
      for (size_t i = 0; i < mirror.size(); ++i) EXPECT_EQ(rounds[id][i], mirror[i]) << i;
    }
  }
}

TEST_P(Mirror, EveryRoundIsThatOfTheMirror) { ExpectRoundsOfTheMirror(WarmUp::kAlways); }

// Prompts that lag are read in several passes, some of rows of two sequences.
TEST_P(Mirror, SoItIsWhenTheDraftLayerReadsThePromptWithTheFirstDraft) {
  ExpectRoundsOfTheMirror(WarmUp::kLater);
}

INSTANTIATE_TEST_SUITE_P(Models, Mirror,
                         ::testing::Values(MirrorCase{"tiny-a", Precision::kF32},
                                           MirrorCase{"tiny-a", Precision::kInt8},
                                           MirrorCase{"tiny-c", Precision::kInt8}),
                         [](const auto& test) {
                           std::string name = test.param.snapshot;
                           name[4] = '_';
                           return name + "_" + PrecisionName(test.param.precision);
                         });

}  // namespace
}  // namespace testing
}  // namespace platen
