// The same request gives the same bits whatever runs beside it, on any number of threads, with any
// draft length, block size and kernel table.
#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <cstring>

#include "tests/support/golden.h"

namespace platen::testing {
namespace {

constexpr const char* kCases[] = {"tiny20",     "tall30x400", "exif6",
                                  "two_images", "text_only",  "gray"};

Request RequestOf(const Model& model, const std::string& snapshot, const std::string& name) {
  Request request = GoldenRequest(model, GoldenCase("tests/golden/cases/" + snapshot + "/" + name));
  request.max_new_tokens = 24;
  request.ignore_stop = true;
  return request;
}

struct Outcome {
  std::vector<TokenId> tokens;
  std::vector<float> probabilities;
  bool operator==(const Outcome&) const = default;
};

Outcome OutcomeOf(const Sequence& s) { return {Decided(s), s.result.probabilities}; }

// All cases at once, joining in groups of `group` while others already decode.
std::vector<Outcome> RunTogether(const Model& model, const std::string& snapshot,
                                 const EngineOptions& options, size_t group) {
  Engine engine(model, options);
  std::vector<Outcome> outcomes(std::size(kCases));
  std::vector<std::unique_ptr<Sequence>> waiting;
  for (size_t i = 0; i < std::size(kCases); ++i) {
    waiting.push_back(engine.Prepare(RequestOf(model, snapshot, kCases[i])));
    waiting.back()->user = &outcomes[i];
  }
  while (!waiting.empty() || engine.live() > 0) {
    std::vector<Sequence*> joining;
    std::vector<std::unique_ptr<Sequence>> owned;
    while (!waiting.empty() && joining.size() < group && engine.TryReserve(*waiting.back())) {
      owned.push_back(std::move(waiting.back()));
      waiting.pop_back();
      joining.push_back(owned.back().get());
    }
    if (!joining.empty()) {
      engine.EncodeImages(joining);
      engine.Prefill(joining);
      for (auto& s : owned) engine.Submit(std::move(s));
    }
    for (const auto& s : engine.Step()) *static_cast<Outcome*>(s->user) = OutcomeOf(*s);
  }
  return outcomes;
}

class Determinism : public ::testing::TestWithParam<std::tuple<const char*, Precision>> {
 protected:
  std::vector<Outcome> Alone(const EngineOptions& options) const {
    std::vector<Outcome> outcomes;
    for (const char* name : kCases) {
      Engine engine(model_, options);
      outcomes.push_back(OutcomeOf(*RunToEnd(engine, RequestOf(model_, Snapshot(), name))));
    }
    return outcomes;
  }
  std::string Snapshot() const { return std::get<0>(GetParam()); }
  const Model& model_ = GoldenModel(Snapshot(), std::get<1>(GetParam()));
};

TEST_P(Determinism, ARequestDecodesTheSameAloneAmongOthersAndWithAnyDraftLength) {
  EngineOptions plain;
  plain.draft_length = 0;
  const std::vector<Outcome> expected = Alone(plain);
  for (const int draft_length : {0, 1, 3, 8}) {
    for (const int block_tokens : {16, 64}) {
      for (const size_t group : {1U, 2U, 6U}) {
        EngineOptions options;
        options.draft_length = draft_length;
        options.kv_block_tokens = block_tokens;
        options.adaptive_drafts = group != 2;  // the planner tries every number of drafts
        EXPECT_EQ(RunTogether(model_, Snapshot(), options, group), expected)
            << "draft length " << draft_length << ", blocks of " << block_tokens << ", groups of "
            << group;
      }
    }
  }
}

TEST_P(Determinism, OneTwoAndThreeThreadsGiveTheSameBits) {
  EngineOptions options;
  std::vector<std::vector<Outcome>> outcomes;
  for (const int threads : {1, 2, 3}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(threads));
    tbb::task_arena arena(threads);
    arena.execute([&] { outcomes.push_back(RunTogether(model_, Snapshot(), options, 3)); });
  }
  EXPECT_EQ(outcomes[0], outcomes[1]);
  EXPECT_EQ(outcomes[0], outcomes[2]);
}

// Every array the observer sees for these requests, prefilled as one batch.
std::map<std::string, std::vector<float>> ArraysOf(const Model& model, const std::string& snapshot,
                                                   const std::vector<const char*>& names) {
  Recorder recorder;
  EngineOptions options;
  options.observer = recorder.observer();
  Engine engine(model, options);
  std::vector<std::unique_ptr<Sequence>> owned;
  std::vector<Sequence*> batch;
  for (const char* name : names) {
    owned.push_back(engine.Prepare(RequestOf(model, snapshot, name)));
    batch.push_back(owned.back().get());
    if (!engine.TryReserve(*batch.back())) throw std::runtime_error("no KV blocks");
  }
  engine.EncodeImages(batch);
  engine.Prefill(batch);
  for (Sequence* s : batch) engine.Discard(*s);
  return recorder.arrays;
}

TEST_P(Determinism, EveryIntermediateArrayHasTheSameBitsTwiceOnAnyThreadsAndInABatch) {
  const std::vector<const char*> names = {"exif6", "two_images", "gray"};
  std::map<std::string, std::vector<float>> one_by_one;
  for (const char* name : names) {
    for (const auto& [stage, values] : ArraysOf(model_, Snapshot(), {name})) {
      auto& all = one_by_one[stage];
      all.insert(all.end(), values.begin(), values.end());
    }
  }
  ASSERT_TRUE(one_by_one.contains("vision_embeds") && one_by_one.contains("layer1") &&
              one_by_one.contains("logits_last") && one_by_one.contains("mtp_prefill"));
  for (const int threads : {1, 1, 2, 3}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(threads));
    tbb::task_arena arena(threads);
    arena.execute([&] {
      const auto together = ArraysOf(model_, Snapshot(), names);
      ASSERT_EQ(together.size(), one_by_one.size());
      for (const auto& [stage, values] : together) {
        const std::vector<float>& expected = one_by_one[stage];
        ASSERT_EQ(values.size(), expected.size()) << stage;
        EXPECT_EQ(std::memcmp(values.data(), expected.data(), values.size() * sizeof(float)), 0)
            << stage << " on " << threads << " threads";
      }
    });
  }
}

TEST_P(Determinism, APoolTooSmallForAllMakesSequencesWaitAndChangesNothing) {
  EngineOptions roomy;
  const std::vector<Outcome> expected = Alone(roomy);
  EngineOptions tight;
  tight.kv_block_tokens = 16;
  // Room for about two of the six sequences.
  const TextConfig& text = model_.config().text;
  tight.kv_cache_bytes = 150 * KvPool::TokenBytes(text, KvTypeOf(model_.precision()));
  EXPECT_EQ(RunTogether(model_, Snapshot(), tight, 6), expected);
}

TEST_P(Determinism, EveryKernelTableWithHeadsTogetherOrNotGivesTheSameTokensAndProbabilities) {
  EngineOptions options;
  const std::vector<Outcome> expected = RunTogether(model_, Snapshot(), options, 6);
  for (const char* name : kKernelNames) {
    const KernelTable* table = FindKernels(name);
    if (table == nullptr) continue;
    KernelTable kernels = *table;
    for (const bool together : {false, true}) {  // whichever was faster at the start
      kernels.heads_together = together;
      const auto other = LoadGoldenModel(Snapshot(), kernels, model_.precision());
      EXPECT_EQ(RunTogether(*other, Snapshot(), options, 6), expected)
          << name << (together ? ", heads together" : ", head by head");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Snapshots, Determinism,
                         ::testing::Combine(::testing::Values("tiny-a", "tiny-b", "tiny-c"),
                                            ::testing::Values(Precision::kF32, Precision::kInt8)),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param);
                           name[4] = '_';
                           return name + "_" + PrecisionName(std::get<1>(test.param));
                         });

TEST(Engine, RefusesARequestThatCanNeverFit) {
  const Model& model = GoldenModel("tiny-a");
  EngineOptions options;
  options.kv_cache_bytes = 1;  // one block
  Engine engine(model, options);
  try {
    engine.Prepare(RequestOf(model, "tiny-a", "exif6"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(error.reason().find("--kv-cache-mib"), std::string::npos) << error.reason();
  }
}

TEST(Engine, ReturnsEveryBlock) {
  const Model& model = GoldenModel("tiny-a");
  Engine engine(model, {});
  RunToEnd(engine, RequestOf(model, "tiny-a", "exif6"));
  auto dropped = engine.Prepare(RequestOf(model, "tiny-a", "gray"));
  ASSERT_TRUE(engine.TryReserve(*dropped));
  engine.Discard(*dropped);
  EXPECT_EQ(engine.stats().kv_blocks_free, engine.stats().kv_blocks_total);
}

TEST(LoopGuard, FiresOnEndlessRepetitionAndNotOnOrdinaryText) {
  const auto pushes_until_loop = [](const std::vector<TokenId>& period, int most) {
    LoopGuard guard;
    std::vector<TokenId> decided;
    for (int i = 0; i < most; ++i) {
      decided.push_back(period[static_cast<size_t>(i) % period.size()]);
      if (guard.Push(decided)) return i + 1;
    }
    return -1;
  };
  EXPECT_EQ(pushes_until_loop({7}, 1000), LoopGuard::kMinTokens + 1);
  EXPECT_EQ(pushes_until_loop({1, 2, 3}, 1000), LoopGuard::kMinTokens + 3);
  std::vector<TokenId> long_period(LoopGuard::kMaxPeriod);
  for (size_t i = 0; i < long_period.size(); ++i) long_period[i] = static_cast<TokenId>(i);
  EXPECT_EQ(pushes_until_loop(long_period, 2000),
            LoopGuard::kMaxPeriod * (LoopGuard::kMinPeriods + 1));
  long_period.push_back(999);
  EXPECT_EQ(pushes_until_loop(long_period, 5000), -1);
}

}  // namespace
}  // namespace platen::testing
