#include "model/training/draft_evaluation.h"

#include <gtest/gtest.h>

#include "model/engine/teacher_forced.h"
#include "tests/support/training_golden.h"

namespace platen::testing {
namespace {

PageHits Page(const std::string& document, int64_t answer, std::vector<std::vector<uint8_t>> hits) {
  return {document, answer, std::move(hits)};
}

// Six tokens: the first comes with the prompt. Behind it the first draft is right and the second is
// wrong: two tokens. Behind three tokens both are right: three more, and that is all.
TEST(ReplayTest, CountsRoundsAsDecodingHasThem) {
  const PageHits page = Page("a", 6, {{1, 0, 1, 0, 1}, {0, 1, 1, 1}});
  const Rounds rounds = Replay(page, 2);
  EXPECT_EQ(rounds.rounds, 2);
  EXPECT_EQ(rounds.tokens, 5);
  EXPECT_EQ(rounds.made, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(rounds.right, (std::vector<int64_t>{2, 1}));
  EXPECT_DOUBLE_EQ(rounds.tokens_per_round(), 2.5);
}

TEST(ReplayTest, AnAnswerOfOneTokenNeedsNoRound) {
  EXPECT_EQ(Replay(Page("a", 1, {{}, {}}), 2).rounds, 0);
}

TEST(AcceptanceTest, ADraftCountsWhereThoseBeforeItWereRight) {
  const PageHits pages[] = {Page("a", 6, {{1, 0, 1, 0, 1}, {0, 1, 1, 1}})};
  const Acceptance acceptance = AcceptanceOf(pages, 2);
  EXPECT_EQ(acceptance.tried, (std::vector<int64_t>{5, 2}));
  EXPECT_EQ(acceptance.right, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(acceptance.rounds[1].rounds, 2);
}

std::vector<PageHits> Documents(int count, int64_t answer, uint8_t hit) {
  std::vector<PageHits> pages;
  for (int i = 0; i < count; ++i) {
    const auto rows = static_cast<size_t>(answer - 1);
    pages.push_back(
        Page("document " + std::to_string(i), answer, {std::vector<uint8_t>(rows, hit)}));
  }
  return pages;
}

TEST(GainTest, IsThatOfTokensARound) {
  const auto before = Documents(8, 21, 0), after = Documents(8, 21, 1);
  const Gain gain = BootstrapGain(before, after, 1, 3);
  EXPECT_EQ(gain.documents, 8);
  EXPECT_DOUBLE_EQ(gain.mean, 1);  // every draft right: two tokens a round instead of one
  EXPECT_DOUBLE_EQ(gain.low, 1);
}

// One document gains and the others do not: not beyond chance, whatever the mean.
TEST(GainTest, OneDocumentAloneDoesNotDecide) {
  const auto before = Documents(8, 21, 0);
  auto after = before;
  after[0].hits[0].assign(20, 1);
  const Gain gain = BootstrapGain(before, after, 1, 3);
  EXPECT_GT(gain.mean, 0);
  EXPECT_LE(gain.low, 0);
  EXPECT_EQ(BootstrapGain(before, after, 1, 3).low, gain.low);  // the same seed, the same resamples
}

// What is replayed from hits is what the engine did.
TEST(ReplayTest, IsWhatTheEngineDoes) {
  for (const Precision precision : {Precision::kF32, Precision::kInt8}) {
    const Model& model = GoldenModel("tiny-a", precision);
    for (const int drafts : {1, 3, 5}) {
      std::vector<Round> rounds;
      EngineOptions options;
      options.draft_length = drafts;
      options.drafters = DrafterChoice::kMtp;
      options.instruments.full_drafts = true;
      options.instruments.on_round = [&](const Round& round) { rounds.push_back(round); };
      Engine engine(model, options);
      Request request = GoldenRequest(model, GoldenCase("tests/golden/cases/tiny-a/exif6"));
      request.max_new_tokens = 40;
      request.ignore_stop = true;
      const auto sequence = RunToEnd(engine, std::move(request));
      TrainingPage page;
      page.ids = sequence->tokens;
      page.prompt = sequence->prompt_len();
      for (int64_t i = 0; i < page.length(); ++i) {
        for (size_t axis = 0; axis < 3; ++axis) {
          page.positions[axis].push_back(sequence->RopePosition(i, static_cast<int>(axis)));
        }
      }
      TeacherForcedPass pass(model);
      const std::vector<TokenId> answer = Decided(*sequence);
      const ConstMatView hidden = pass.HiddenOfAll(*sequence, std::span(answer).first(39));
      page.hidden = Converted<float>(hidden);
      const DraftShape shape = model.architecture().Draft().value();
      EngineDraft draft(model.snapshot(), shape, model.kernels(), precision);
      draft.LoadOwn();
      const Rounds replayed = Replay(HitsOf(page, drafts, draft), drafts);
      EXPECT_EQ(replayed.rounds, static_cast<int64_t>(rounds.size())) << drafts;
      int64_t accepted = 0;
      for (const Round& round : rounds) accepted += round.accepted;
      int64_t right = 0;
      for (const int64_t n : replayed.right) right += n;
      EXPECT_EQ(right, accepted) << drafts;
      EXPECT_GT(right, 0);
    }
  }
}

}  // namespace
}  // namespace platen::testing
