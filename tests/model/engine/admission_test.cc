// Which requests the engine takes, near the limits of the model's positions and of the cache: what
// speculation could do must neither let one in nor keep one out.
#include <gtest/gtest.h>

#include <optional>

#include "model/support/error.h"
#include "tests/support/glm_ocr.h"
#include "tests/support/golden.h"

namespace platen::testing {
namespace {

// What an engine made of a request; nothing if it was refused.
struct Outcome {
  std::vector<TokenId> tokens;
  std::vector<float> probabilities;
  int64_t blocks = 0;  // reserved
  bool operator==(const Outcome&) const = default;
};

Request RequestOf(const Model& model, int max_new_tokens) {
  Request request = GoldenRequest(model, GoldenCase("tests/golden/cases/tiny-a/text_only"));
  request.max_new_tokens = max_new_tokens;
  request.ignore_stop = true;
  return request;
}

std::optional<Outcome> Decode(const Model& model, const EngineOptions& options,
                              int max_new_tokens) {
  Engine engine(model, options);
  Outcome outcome;
  try {
    Start(engine, RequestOf(model, max_new_tokens));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput) << error.what();
    return std::nullopt;
  }
  outcome.blocks = engine.stats().kv_blocks_total - engine.stats().kv_blocks_free;
  for (;;) {
    const auto finished = engine.Step();
    if (finished.empty()) continue;
    outcome.tokens = Decided(*finished.front());
    outcome.probabilities = finished.front()->result.probabilities;
    return outcome;
  }
}

class Admission : public ::testing::Test {
 protected:
  // A model with so few positions.
  static std::unique_ptr<Model> ModelWith(int positions) {
    auto snapshot =
        std::make_unique<Snapshot>(LoadSnapshot(SourcePath("tests/golden/snapshots/tiny-a")));
    glm_ocr::Config config = GlmConfig(*snapshot);
    config.text.max_positions = positions;
    snapshot->architecture = std::make_unique<glm_ocr::GlmOcr>(config, "config.json");
    return std::make_unique<Model>(std::move(snapshot), BestKernels());
  }

  // The outcome for every draft length and policy, which must be one.
  std::optional<Outcome> RunAll(const Model& model, EngineOptions options, int max_new_tokens) {
    options.draft_length = 0;
    const std::optional<Outcome> plain = Decode(model, options, max_new_tokens);
    for (int drafts = 1; drafts <= 8; ++drafts) {
      for (const bool adaptive : {false, true}) {
        for (const bool full : {false, true}) {
          options.draft_length = drafts;
          options.adaptive_drafts = adaptive;
          options.instruments.full_drafts = full;
          EXPECT_EQ(Decode(model, options, max_new_tokens), plain)
              << drafts << " drafts, adaptive " << adaptive << ", full " << full << ", "
              << max_new_tokens << " tokens";
        }
      }
    }
    return plain;
  }

  int PromptRows() const {
    const Engine engine(GoldenModel("tiny-a"), {});
    return static_cast<int>(engine.Prepare(RequestOf(GoldenModel("tiny-a"), 1))->prompt_len());
  }
};

// The last token decided is never an input: n tokens need n - 1 rows after the prompt.
TEST_F(Admission, PositionsAreThoseOfPromptAndAnswerWhateverIsDrafted) {
  constexpr int kAnswer = 12;
  const int needed = PromptRows() + kAnswer - 1;
  for (int positions = needed - 2; positions <= needed + 10; ++positions) {
    const auto model = ModelWith(positions);
    const std::optional<Outcome> outcome = RunAll(*model, {}, kAnswer);
    ASSERT_EQ(outcome.has_value(), positions >= needed) << positions << " positions";
    if (outcome) {
      EXPECT_EQ(outcome->tokens.size(), kAnswer);
    }
  }
}

TEST_F(Admission, TheCacheHoldsPromptAndAnswerWhateverIsDrafted) {
  constexpr int kBlockTokens = 16;
  constexpr int kBlocks = 3;
  const Model& model = GoldenModel("tiny-a");
  EngineOptions options;
  options.kv_block_tokens = kBlockTokens;
  options.kv_cache_bytes =
      kBlocks * kBlockTokens *
      KvPool::TokenBytes(model.architecture().text().cache, KvTypeOf(model.precision()));
  const int most = kBlocks * kBlockTokens - PromptRows() + 1;
  ASSERT_GT(most, 20);
  for (int tokens = most - 20; tokens <= most + 2; ++tokens) {
    const std::optional<Outcome> outcome = RunAll(model, options, tokens);
    ASSERT_EQ(outcome.has_value(), tokens <= most) << tokens << " tokens";
    if (!outcome) continue;
    EXPECT_EQ(outcome->tokens.size(), static_cast<size_t>(tokens));
    EXPECT_EQ(outcome->blocks, (PromptRows() + tokens - 1 + kBlockTokens - 1) / kBlockTokens);
  }
}

TEST_F(Admission, AnAnswerOfOneTokenNeedsThePromptOnly) {
  const auto model = ModelWith(PromptRows());
  ASSERT_TRUE(RunAll(*model, {}, 1).has_value());
  EXPECT_FALSE(RunAll(*model, {}, 2).has_value());
}

}  // namespace
}  // namespace platen::testing
