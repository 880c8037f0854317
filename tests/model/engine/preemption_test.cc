// Sequences that give their cache blocks to others and come back: same text, an end for all, no
// block lost, however small the cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <stdexcept>

#include "model/engine/answer_lengths.h"
#include "tests/support/golden.h"

namespace platen::testing {
namespace {

constexpr const char* kCases[] = {"tiny20", "two_images", "text_only"};
constexpr int kBlockTokens = 16;

struct Outcome {
  std::vector<TokenId> tokens;
  std::vector<float> probabilities;
  bool operator==(const Outcome&) const = default;
};

class Preemption : public ::testing::TestWithParam<Precision> {
 protected:
  const Model& model() const { return GoldenModel("tiny-a", GetParam()); }

  Request RequestOf(size_t which, int max_new_tokens) const {
    const std::string name = kCases[which % std::size(kCases)];
    Request request = GoldenRequest(model(), GoldenCase("tests/golden/cases/tiny-a/" + name));
    request.max_new_tokens = max_new_tokens;
    request.ignore_stop = true;
    return request;
  }

  EngineOptions OptionsFor(int64_t blocks, int draft_length) const {
    const CacheShape& cache = model().architecture().text().cache;
    EngineOptions options;
    options.draft_length = draft_length;
    options.kv_block_tokens = kBlockTokens;
    options.kv_cache_bytes =
        blocks * kBlockTokens * KvPool::TokenBytes(cache, KvTypeOf(model().precision()));
    return options;
  }

  Outcome Alone(size_t which, int max_new_tokens, const SamplingOptions& sampling = {}) const {
    EngineOptions options;
    options.draft_length = 0;
    Engine engine(model(), options);
    Request request = RequestOf(which, max_new_tokens);
    request.sampling = sampling;
    const auto s = RunToEnd(engine, std::move(request));
    return {Decided(*s), s->result.probabilities};
  }

  // Blocks of the largest request.
  int64_t LargestNeed(int max_new_tokens) const {
    const Engine engine(model(), {});
    int64_t rows = 0;
    for (size_t i = 0; i < std::size(kCases); ++i) {
      rows = std::max(rows, engine.Prepare(RequestOf(i, max_new_tokens))->worst_case_rows());
    }
    return (rows + kBlockTokens - 1) / kBlockTokens;
  }
};

// Everybody joins as soon as TryReserve lets it; preempted sequences go first.
TEST_P(Preemption, ChangesNoTokenAndEverybodyComesToAnEnd) {
  constexpr int kTokens = 60;
  constexpr size_t kRequests = 9;
  std::vector<Outcome> expected;
  for (size_t i = 0; i < std::size(kCases); ++i) expected.push_back(Alone(i, kTokens));
  const int64_t least = LargestNeed(kTokens);
  int64_t preemptions = 0;
  for (const int64_t extra : {0, 1, 2, 3, 5, 8, 13}) {
    for (const int draft_length : {0, 3}) {
      SCOPED_TRACE(std::to_string(extra) + " blocks over one request, drafts " +
                   std::to_string(draft_length));
      Engine engine(model(), OptionsFor(least + extra, draft_length));
      std::map<SequenceId, size_t> which;
      std::vector<std::unique_ptr<Sequence>> waiting;
      for (size_t i = 0; i < kRequests; ++i) {
        waiting.push_back(engine.Prepare(RequestOf(i, kTokens)));
        which[waiting.back()->id] = i % std::size(kCases);
      }
      size_t finished = 0;
      int64_t steps = 0;
      while (finished < kRequests) {
        ASSERT_LT(++steps, int64_t{50} * kTokens * static_cast<int64_t>(kRequests)) << "livelock";
        waiting = Resume(engine, std::move(waiting));
        for (const auto& s : engine.Step()) {
          EXPECT_EQ(Outcome({Decided(*s), s->result.probabilities}), expected[which.at(s->id)]);
          ++finished;
        }
        std::vector<std::unique_ptr<Sequence>> back = engine.TakePreempted();
        waiting.insert(waiting.begin(), std::make_move_iterator(back.begin()),
                       std::make_move_iterator(back.end()));
      }
      const EngineStats stats = engine.stats();
      EXPECT_EQ(stats.kv_blocks_free, stats.kv_blocks_total);
      preemptions += stats.preemptions;
      EXPECT_EQ(stats.preemptions > 0, stats.recomputed_rows > 0);
    }
  }
  EXPECT_GT(preemptions, 20);
}

// The youngest gives way, the oldest never does while others are there.
TEST_P(Preemption, TheYoungestGivesWay) {
  constexpr int kTokens = 60;
  Engine engine(model(), OptionsFor(LargestNeed(kTokens) + 4, 0));
  std::vector<SequenceId> ids;
  std::vector<std::unique_ptr<Sequence>> waiting;
  for (size_t i = 0; i < 3; ++i) {
    waiting.push_back(engine.Prepare(RequestOf(0, kTokens)));
    ids.push_back(waiting.back()->id);
  }
  waiting = Resume(engine, std::move(waiting));
  ASSERT_GT(engine.live(), 1U);
  std::vector<std::unique_ptr<Sequence>> preempted;
  while (preempted.empty()) {
    ASSERT_TRUE(engine.Step().empty());
    preempted = engine.TakePreempted();
  }
  for (const auto& s : preempted) {
    EXPECT_NE(s->id, ids.front());
    EXPECT_TRUE(s->blocks.empty());
    EXPECT_FALSE(s->finished);
    EXPECT_GT(s->num_decided(), 0);
    EXPECT_EQ(s->result.stats.preemptions, 1);
  }
  EXPECT_TRUE(engine.TakePreempted().empty());
}

// PLATEN_LONG_TESTS: many schedules from a fresh seed, which is printed; PLATEN_TEST_SEED plays one
// again.
unsigned Seed() {
  if (const char* given = std::getenv("PLATEN_TEST_SEED")) {
    return static_cast<unsigned>(std::strtoul(given, nullptr, 10));
  }
  return std::getenv("PLATEN_LONG_TESTS") == nullptr ? 1 : std::random_device()();
}

// PLATEN_LONG_TESTS=20000: so many schedules; 1: a thousand.
int Schedules() {
  const char* wanted = std::getenv("PLATEN_LONG_TESTS");
  if (wanted == nullptr) return 30;
  const int count = std::atoi(wanted);
  return count > 1 ? count : 1000;
}

// Greedy, drawn, or with a penalty.
SamplingOptions SamplingOf(int which) {
  if (which == 1) return {.temperature = 0.8F, .top_k = 40, .seed = 5};
  if (which == 2) return {.repetition_penalty = 1.3F};
  return {};
}

// Random arrivals, limits, cancels, cache sizes, drafters, draft vocabularies, ways of choosing
// tokens, and faults wherever something is drafted; the same text as alone.
TEST_P(Preemption, RandomSchedulesGiveThePlainText) {
  const unsigned seed = Seed();
  const int schedules = Schedules();
  std::mt19937 rng(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  if (schedules > 30) std::printf("seed %u\n", seed);
  const auto below = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
  std::map<std::array<int, 3>, Outcome> plain;
  int64_t faults = 0, preemptions = 0, accepted = 0;
  for (int schedule = 0; schedule < schedules; ++schedule) {
    const int longest = 1 + below(64);
    const int draft_length = below(9);
    EngineOptions options = OptionsFor(LargestNeed(longest) + below(5), draft_length);
    options.adaptive_drafts = below(2) == 0;
    options.warm_up = static_cast<WarmUp>(below(3));
    options.drafters = static_cast<DrafterChoice>(below(4));
    for (TokenId id = below(3); below(2) == 0 && id < 512; id += 3) {
      options.draft_vocabulary.push_back(id);
    }
    const int fault_rate = below(3) == 0 ? below(21) : 0;  // in a hundred
    if (fault_rate > 0) {
      options.instruments.fault_point = [&, fault_rate](std::string_view point, MatView) {
        if (point.starts_with("verify") || below(100) >= fault_rate) return;
        ++faults;
        throw std::runtime_error("fault");
      };
    }
    Engine engine(model(), options);
    using Wanted = std::array<int, 3>;  // the case, tokens, SamplingOf
    std::map<SequenceId, Wanted> wanted;
    std::vector<std::unique_ptr<Sequence>> waiting;
    int to_come = 5 + below(6);
    while (to_come > 0 || !waiting.empty() || engine.live() > 0) {
      if (to_come > 0 && below(3) > 0) {
        const Wanted w = {below(3), 1 + below(longest), below(3)};
        Request request = RequestOf(static_cast<size_t>(w[0]), w[1]);
        request.sampling = SamplingOf(w[2]);
        request.drafting.length = below(4) == 0 ? below(5) : -1;
        waiting.push_back(engine.Prepare(std::move(request)));
        wanted[waiting.back()->id] = w;
        --to_come;
      }
      waiting = Resume(engine, std::move(waiting));
      if (below(40) == 0 && !wanted.empty()) engine.Cancel(wanted.begin()->first);
      for (const auto& s : engine.Step()) {
        const Wanted& w = wanted.at(s->id);
        accepted += s->result.stats.accepted;
        auto& expected = plain[w];
        if (expected.tokens.empty()) {
          expected = Alone(static_cast<size_t>(w[0]), w[1], SamplingOf(w[2]));
        }
        EXPECT_EQ(Outcome({Decided(*s), s->result.probabilities}), expected)
            << "schedule " << schedule;
      }
      std::vector<std::unique_ptr<Sequence>> back = engine.TakePreempted();
      waiting.insert(waiting.begin(), std::make_move_iterator(back.begin()),
                     std::make_move_iterator(back.end()));
    }
    EXPECT_EQ(engine.stats().kv_blocks_free, engine.stats().kv_blocks_total);
    preemptions += engine.stats().preemptions;
  }
  EXPECT_GT(faults, 0);
  EXPECT_GT(accepted, 0);
  if (schedules > 30) {  // how often depends on the clock, by the planner
    EXPECT_GT(preemptions, 0);
    std::printf("%lld faults, %lld preemptions, %lld accepted\n", static_cast<long long>(faults),
                static_cast<long long>(preemptions), static_cast<long long>(accepted));
  }
}

// What was preempted when everything ended comes back with the rest.
TEST_P(Preemption, ResetReturnsPreemptedSequencesToo) {
  constexpr int kTokens = 60;
  Engine engine(model(), OptionsFor(LargestNeed(kTokens) + 4, 0));
  std::vector<std::unique_ptr<Sequence>> waiting;
  for (size_t i = 0; i < 3; ++i) waiting.push_back(engine.Prepare(RequestOf(0, kTokens)));
  waiting = Resume(engine, std::move(waiting));
  const size_t started = 3 - waiting.size();
  while (engine.stats().preemptions == 0) engine.Step();
  EXPECT_EQ(engine.Reset().size(), started);
  EXPECT_EQ(engine.stats().kv_blocks_free, engine.stats().kv_blocks_total);
}

INSTANTIATE_TEST_SUITE_P(Precisions, Preemption,
                         ::testing::Values(Precision::kF32, Precision::kInt8),
                         [](const auto& instance) { return PrecisionName(instance.param); });

// The released model's shapes at the default cache: how many crops are decoded at once.
TEST(Admission, OfTheReleasedModelIsByTheExpectedAnswer) {
  AnswerLengths lengths;
  constexpr int64_t kBlock = 32;
  constexpr int64_t kBlockBytes = 2'228'224;  // bf16, with the draft layer (docs/DECODING.md)
  const int64_t blocks = (int64_t{1} << 30) / kBlockBytes;
  const auto live = [&](int image_tokens) {
    const int64_t prompt = image_tokens + 12;
    return blocks / ((prompt + lengths.Expected(0, image_tokens) + kBlock - 1) / kBlock);
  };
  EXPECT_GE(live(110), 60);
  EXPECT_GE(live(500), 15);
  for (int i = 0; i < 100; ++i) lengths.Add(0, 110, 35);
  EXPECT_GE(live(110), 90);
}

}  // namespace
}  // namespace platen::testing
