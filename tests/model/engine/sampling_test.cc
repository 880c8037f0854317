// Drawn tokens in the engine: the seed decides, not the drafts, the batch or the preemptions.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/golden.h"

namespace platen::testing {
namespace {

constexpr const char* kCases[] = {"tiny20", "two_images", "text_only"};

class Sampling : public ::testing::Test {
 protected:
  Request RequestOf(const char* name, const SamplingOptions& sampling) const {
    Request request =
        GoldenRequest(model_, GoldenCase(std::string("tests/golden/cases/tiny-a/") + name));
    request.max_new_tokens = 32;
    request.ignore_stop = true;
    request.sampling = sampling;
    return request;
  }

  std::vector<TokenId> Alone(const char* name, const SamplingOptions& sampling, int draft_length,
                             EngineStats* stats = nullptr) const {
    EngineOptions options;
    options.draft_length = draft_length;
    Engine engine(model_, options);
    const auto s = RunToEnd(engine, RequestOf(name, sampling));
    if (stats != nullptr) *stats = engine.stats();
    return Decided(*s);
  }

  const Model& model_ = GoldenModel("tiny-a");
};

TEST_F(Sampling, TheSameSeedGivesTheSameTextWithAndWithoutDrafts) {
  std::set<std::vector<TokenId>> texts;
  for (const char* name : kCases) {
    for (const float temperature : {0.3F, 0.8F, 1.5F}) {
      for (uint64_t seed = 0; seed < 4; ++seed) {
        const SamplingOptions sampling = {.temperature = temperature, .top_p = 0.95F, .seed = seed};
        const std::vector<TokenId> plain = Alone(name, sampling, 0);
        texts.insert(plain);
        for (const int draft_length : {1, 3, 8}) {
          EXPECT_EQ(Alone(name, sampling, draft_length), plain)
              << name << ", temperature " << temperature << ", seed " << seed << ", "
              << draft_length << " drafts";
        }
      }
    }
  }
  EXPECT_GE(texts.size(), 30U) << "other seeds, other texts";
}

// Draft and target draw with the same noise: where the draft layer's logits are the target's own,
// every draft is right.
TEST_F(Sampling, ADrafterThatDrawsWithTheTargetsNoiseIsOftenRight) {
  int64_t accepted = 0, drafted = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    EngineStats stats;
    Alone("tiny20", {.temperature = 0.2F, .seed = seed}, 1, &stats);
    drafted += stats.drafted_at[0];
    accepted += stats.accepted_at[0];
  }
  EXPECT_GT(drafted, 500);
  EXPECT_GT(accepted, 0);
}

TEST_F(Sampling, TheOtherRulesGiveTextsOfTheRightLengthWithEveryDraftLength) {
  for (const AcceptanceRule rule : {AcceptanceRule::kRejection, AcceptanceRule::kTypical}) {
    for (const int draft_length : {0, 1, 4}) {
      const SamplingOptions sampling = {.temperature = 0.8F, .seed = 5, .acceptance = rule};
      EXPECT_EQ(Alone("tiny20", sampling, draft_length).size(), 32U);
      EXPECT_EQ(Alone("tiny20", sampling, draft_length), Alone("tiny20", sampling, draft_length));
    }
  }
}

TEST_F(Sampling, NoStopTokenBeforeTheLeastLength) {
  for (const float temperature : {0.0F, 1.5F}) {
    for (int least = 0; least < 12; ++least) {
      for (const int draft_length : {0, 3}) {
        Request request = RequestOf("tiny20", {.temperature = temperature, .seed = 3});
        request.ignore_stop = false;
        // A tenth of the vocabulary ends the answer: it would end soon.
        for (TokenId id = 0; id < model_.architecture().text().vocab_size; id += 10) {
          request.stop.push_back(id);
        }
        request.min_new_tokens = least;
        EngineOptions options;
        options.draft_length = draft_length;
        Engine engine(model_, options);
        const auto s = RunToEnd(engine, std::move(request));
        EXPECT_GE(static_cast<int>(s->result.tokens.size()), least);
        EXPECT_EQ(s->result.finish, FinishReason::kStop);
      }
    }
  }
}

TEST_F(Sampling, WhatMakesNoSenseIsRefusedBeforeAnythingIsTaken) {
  Engine engine(model_, {});
  EXPECT_THROW(engine.Prepare(RequestOf("tiny20", {.temperature = -1})), Error);
  EXPECT_THROW(engine.Prepare(RequestOf("tiny20", {.acceptance = AcceptanceRule::kTypical})),
               Error);
}

}  // namespace
}  // namespace platen::testing
