// Drafts from what was said before, alone and behind the draft layer's.
#include "model/engine/drafters/ngram_lookup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "model/engine/drafters/combined_drafter.h"
#include "tests/support/golden.h"

namespace platen::testing {
namespace {

using Tokens = std::vector<TokenId>;

// All places, all lengths.
std::optional<NgramMatch> PlainMatch(const Tokens& tokens) {
  for (int length = kLongestMatch; length >= kShortestMatch; --length) {
    const auto n = static_cast<int64_t>(tokens.size());
    for (int64_t end = n - 1; end >= length; --end) {
      bool equal = true;
      for (int i = 1; i <= length; ++i) {
        equal = equal && tokens[static_cast<size_t>(end - i)] == tokens[static_cast<size_t>(n - i)];
      }
      if (equal) return NgramMatch{end, length};
    }
  }
  return std::nullopt;
}

TEST(FindNgram, IsTheLongestAndLatestMatch) {
  std::mt19937 rng(9);
  int found = 0;
  for (int stream = 0; stream < 3000; ++stream) {
    Tokens tokens;
    const auto alphabet = 1 + rng() % 4;
    for (auto length = rng() % 80; length > 0; --length) {
      tokens.push_back(static_cast<TokenId>(rng() % alphabet));
    }
    const auto expected = PlainMatch(tokens);
    const auto match = FindNgram(tokens);
    ASSERT_EQ(match.has_value(), expected.has_value()) << "stream " << stream;
    if (!match) continue;
    ++found;
    ASSERT_EQ(match->end, expected->end) << "stream " << stream;
    ASSERT_EQ(match->length, expected->length) << "stream " << stream;
  }
  EXPECT_GT(found, 1000);
}

class Lookup : public ::testing::Test {
 protected:
  std::unique_ptr<Sequence> Said(const Tokens& tokens) const {
    Request request = GoldenRequest(model_, GoldenCase("tests/golden/cases/tiny-a/text_only"));
    request.max_new_tokens = 500;
    auto s = Engine(model_, {}).Prepare(std::move(request));
    for (const TokenId id : tokens) s->Decide(id, 1);
    return s;
  }

  Tokens Drafts(Sequence& s, int planned) const {
    Proposal p;
    p.sequence = &s;
    p.planned = planned;
    DraftCosts costs;
    NgramLookup lookup;
    lookup.Propose(std::span(&p, 1), {}, costs);
    EXPECT_EQ(p.drafts.size(), p.probabilities.size());
    return p.drafts;
  }

  const Model& model_ = GoldenModel("tiny-a");
};

TEST_F(Lookup, DraftsWhatFollowedTheLastTime) {
  EXPECT_EQ(Drafts(*Said({7, 8, 9, 20, 21, 22, 7, 8, 9}), 3), (Tokens{20, 21, 22}));
  EXPECT_EQ(Drafts(*Said({7, 8, 9, 20, 7, 8, 9, 30, 7, 8, 9}), 1), (Tokens{30})) << "the latest";
  EXPECT_EQ(Drafts(*Said({5, 7, 8, 9, 20, 6, 7, 8, 9, 30, 5, 7, 8, 9}), 1), (Tokens{20}))
      << "the longest";
  EXPECT_EQ(Drafts(*Said({7, 8, 20, 7, 8}), 3), Tokens()) << "too short";
}

TEST_F(Lookup, GoesOnBehindTheEndOfTheText) {
  EXPECT_EQ(Drafts(*Said({1, 2, 3, 1, 2, 3, 1, 2, 3}), 8), (Tokens{1, 2, 3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(Drafts(*Said({4, 4, 4, 4}), 5), (Tokens{4, 4, 4, 4, 4}));
}

TEST_F(Lookup, NothingIsDraftedBehindAStopToken) {
  auto s = Said({7, 8, 9, 20, 21, 7, 8, 9});
  s->stop = {20};
  EXPECT_EQ(Drafts(*s, 4), (Tokens{20}));
}

TEST_F(Lookup, LearnsHowOftenItIsRight) {
  NgramLookup lookup;
  const double before = lookup.Chance(3);
  EXPECT_LT(before, lookup.Chance(8));
  const auto s = Said({7, 8, 9, 20});
  Proposal p;
  p.sequence = s.get();
  p.match_length = 3;
  p.guess_place = s->tokens.size() - 1;
  p.guess = 99;  // and 20 came: also where nothing was drafted
  for (int i = 0; i < 300; ++i) lookup.Learn(p, 0);
  EXPECT_LT(lookup.Chance(3), 0.1);
  EXPECT_GT(lookup.Chance(8), 0.5) << "other lengths are left alone";
  p.guess = 20;
  p.drafts = {20, 21, 22};
  for (int i = 0; i < 400; ++i) lookup.Learn(p, 3);
  EXPECT_GT(lookup.Chance(4), 0.9);
  for (int i = 0; i < 400; ++i) lookup.Learn(p, 1);  // the second draft wrong, the third unknown
  EXPECT_NEAR(lookup.Chance(4), 0.5, 0.05);
}

// The draft layer, scripted.
class Scripted final : public Drafter {
 public:
  explicit Scripted(Tokens drafts) : drafts_(std::move(drafts)) {}
  std::string_view name() const override { return "scripted"; }
  void Observe(std::span<Sequence* const>, const RowBatch&, ConstMatView, bool) override {}
  bool CanPropose(const Sequence&) const override { return true; }
  void Propose(std::span<Proposal> proposals, const DraftLimits&, DraftCosts&) override {
    for (Proposal& p : proposals) {
      for (int j = 0; j < p.planned && j < static_cast<int>(drafts_.size()); ++j) {
        p.drafts.push_back(drafts_[static_cast<size_t>(j)]);
        p.probabilities.push_back(0.9F);
      }
    }
  }
  void Commit(const Sequence&, ConstMatView) override {}
  void Forget(SequenceId) noexcept override {}

 private:
  Tokens drafts_;
};

Tokens Combined(Sequence& s, const Tokens& layer, int planned) {
  CombinedDrafter drafter(std::make_unique<Scripted>(layer));
  Proposal p;
  p.sequence = &s;
  p.planned = planned;
  DraftCosts costs;
  drafter.Propose(std::span(&p, 1), {}, costs);
  EXPECT_EQ(p.planned, planned);
  EXPECT_EQ(p.drafts.size(), p.probabilities.size());
  return p.drafts;
}

TEST_F(Lookup, ASureMatchNeedsNoDraftLayer) {
  const Tokens eight = {1, 2, 3, 4, 5, 6, 7, 8};
  Tokens said = eight;
  said.insert(said.end(), {20, 21});
  said.insert(said.end(), eight.begin(), eight.end());
  EXPECT_EQ(Combined(*Said(said), {50, 51, 52}, 2), (Tokens{20, 21}));
}

TEST_F(Lookup, AWeakMatchGoesOnBehindTheDraftLayerIfTheyAgree) {
  const auto s = Said({7, 8, 9, 20, 21, 22, 23, 7, 8, 9});
  EXPECT_EQ(Combined(*s, {20, 21}, 4), (Tokens{20, 21, 22, 23}));
  EXPECT_EQ(Combined(*s, {20, 99}, 4), (Tokens{20, 99}));
  EXPECT_EQ(Combined(*s, {}, 4), Tokens());
  EXPECT_EQ(Combined(*Said({1, 2, 3, 9, 1, 2, 3, 9, 1, 2, 3}), {9, 1}, 8),
            (Tokens{9, 1, 2, 3, 9, 1, 2, 3}))
      << "behind the end of the text";
}

// Whoever drafts, in the engine: the text of plain decoding.
TEST_F(Lookup, ChangesNoToken) {
  for (const char* name : {"tiny20", "two_images", "text_only"}) {
    for (const float temperature : {0.0F, 0.7F}) {
      Request request =
          GoldenRequest(model_, GoldenCase(std::string("tests/golden/cases/tiny-a/") + name));
      request.max_new_tokens = 60;
      request.ignore_stop = true;
      request.sampling = {.temperature = temperature, .top_k = 2, .seed = 5};
      Tokens plain;
      for (const DrafterChoice drafters : {DrafterChoice::kNone, DrafterChoice::kNgram,
                                           DrafterChoice::kBoth, DrafterChoice::kMtp}) {
        EngineOptions options;
        options.draft_length = 5;
        options.drafters = drafters;
        Engine engine(model_, options);
        const Tokens tokens = Decided(*RunToEnd(engine, request));
        if (drafters == DrafterChoice::kNone) plain = tokens;
        EXPECT_EQ(tokens, plain) << name << ", drafter " << static_cast<int>(drafters);
      }
    }
  }
}

// A table, whose rows differ in one of twenty tokens, takes a fraction of the passes.
TEST_F(Lookup, IsRightWhereTheTextRepeatsItself) {
  Tokens table;
  for (int row = 0; row < 30; ++row) {
    for (int i = 0; i < 20; ++i) table.push_back(i == 10 ? 100 + row : i);
  }
  auto s = Said({});
  NgramLookup lookup;
  int rounds = 0;
  while (s->num_decided() < std::ssize(table)) {
    ++rounds;
    Proposal p;
    p.sequence = s.get();
    p.planned = 5;
    DraftCosts costs;
    lookup.Propose(std::span(&p, 1), {}, costs);
    const auto next = table.begin() + s->num_decided();
    const auto right = std::mismatch(p.drafts.begin(), p.drafts.end(), next, table.end());
    const auto accepted = static_cast<int>(right.first - p.drafts.begin());
    lookup.Learn(p, accepted);
    for (int j = 0; j <= accepted && s->num_decided() < std::ssize(table); ++j) {
      s->Decide(table[static_cast<size_t>(s->num_decided())], 1);
    }
  }
  EXPECT_LT(rounds, 260);  // for 600 tokens
}

}  // namespace
}  // namespace platen::testing
