// Drafts of a page as they are shown: the same hits as are counted, and what decoding made of them.
#include <gtest/gtest.h>

#include <cmath>

#include "model/training/draft_evaluation.h"
#include "tests/support/training_golden.h"

namespace platen::testing {
namespace {

using Kind = TokenFate::Kind;

// hits[d][r] of an answer of so many tokens, from words of 0 and 1.
PageHits Hits(int64_t answer, const std::vector<std::string>& steps) {
  PageHits page = {"a", answer, {}};
  for (const std::string& step : steps) {
    std::vector<uint8_t>& hits = page.hits.emplace_back();
    for (const char c : step) hits.push_back(c == '1' ? 1 : 0);
  }
  return page;
}

std::string Letters(const std::vector<TokenFate>& fates) {
  std::string text;
  for (const TokenFate& fate : fates) {
    const std::string step = std::to_string(fate.step + 1);
    text += fate.kind == Kind::kTarget ? "T" : (fate.kind == Kind::kAccepted ? "a" : "r") + step;
  }
  return text;
}

TEST(TokenFates, FollowTheRounds) {
  // Rounds begin at rows 0 (both right), 3 (the second wrong) and 5 (the first wrong).
  const PageHits page = Hits(8, {"1001001", "100010"});
  EXPECT_EQ(Letters(FatesOf(page, 2)), "Ta1a2Ta1r2r1a1");
  const std::vector<TokenFate> fates = FatesOf(page, 2);
  EXPECT_EQ(fates[0].row, -1);
  EXPECT_EQ(fates[3].row, 0);
  EXPECT_EQ(fates[5].row, 3);
}

TEST(TokenFates, EndWithThePage) {
  EXPECT_EQ(Letters(FatesOf(Hits(3, {"11", "1"}), 2)), "Ta1a2");
  EXPECT_EQ(Letters(FatesOf(Hits(2, {"1", ""}), 2)), "Ta1");
  EXPECT_EQ(Letters(FatesOf(Hits(1, {"", ""}), 2)), "T");
}

TEST(TokenFates, AreThoseThatReplayCounts) {
  for (int seed = 0; seed < 200; ++seed) {
    uint32_t state = static_cast<uint32_t>(seed) * 2654435761U + 1;
    const auto next = [&state] { return (state = state * 1664525U + 1013904223U) >> 24; };
    const int64_t answer = 1 + next() % 20;
    std::vector<std::string> steps(1 + next() % 4);
    for (size_t d = 0; d < steps.size(); ++d) {
      for (int64_t r = 0; r + 1 + static_cast<int64_t>(d) < answer; ++r) {
        steps[d] += next() % 3 > 0 ? '1' : '0';
      }
    }
    const PageHits page = Hits(answer, steps);
    const int drafts = static_cast<int>(steps.size());
    const Rounds rounds = Replay(page, drafts);
    std::vector<int64_t> made(steps.size()), right(steps.size());
    for (const TokenFate& fate : FatesOf(page, drafts)) {
      const auto step = static_cast<size_t>(fate.step);
      if (fate.kind != Kind::kTarget) ++made[step];
      if (fate.kind == Kind::kAccepted) ++right[step];
    }
    EXPECT_EQ(made, rounds.made) << seed;
    EXPECT_EQ(right, rounds.right) << seed;
  }
}

TEST(PageDraftsTest, AreWhatIsCountedAndSumToOne) {
  TrainingGolden golden("glm/tiny-a");
  const Snapshot snapshot = golden.MakeBareSnapshot();
  EngineDraft draft(snapshot, golden.shape(), BestKernels(), Precision::kF32);
  draft.Load(golden.MakeParameters<float>());
  constexpr int kSteps = 3;
  for (const TrainingPage& page : golden.pages()) {
    const PageDrafts drafts = DraftsOf(page, kSteps, draft);
    EXPECT_EQ(drafts.hits.hits, HitsOf(page, kSteps, draft).hits);
    std::vector<Matrix<float>> vectors;
    draft.Vectors(page, kSteps, vectors);
    for (size_t d = 0; d < kSteps; ++d) {
      ASSERT_EQ(std::ssize(drafts.drafts[d]), vectors[d].rows());
      for (int64_t r = 0; r < vectors[d].rows(); ++r) {
        const DraftedToken& token = drafts.drafts[d][static_cast<size_t>(r)];
        Matrix<float> logits(1, draft.vocab_size());
        draft.Logits(vectors[d].View().Rows(r, 1), logits);
        double sum = 0;
        for (const float logit : logits.values()) sum += std::exp(static_cast<double>(logit));
        const auto share = [&](TokenId id) {
          return std::exp(static_cast<double>(logits.values()[static_cast<size_t>(id)])) / sum;
        };
        const auto label = static_cast<size_t>(page.prompt + 1 + r) + d;
        EXPECT_NEAR(token.probability, share(token.token), 1e-5);
        EXPECT_NEAR(token.probability_of_label, share(page.ids[label]), 1e-5);
        EXPECT_GE(token.probability, token.probability_of_label);
      }
    }
  }
}

}  // namespace
}  // namespace platen::testing
