// A draft layer that chooses among few tokens: which, and that the text stays the same.
#include "model/engine/drafters/draft_vocabulary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include "model/engine/drafters/draft_head.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {
namespace {

using Ids = std::vector<TokenId>;

TEST(DraftVocabulary, IsWhatMustBeThenWhatIsFrequentThenTheLowestIds) {
  const std::vector<int64_t> counts = {0, 5, 9, 5, 0, 0, 1};
  EXPECT_EQ(ChooseDraftVocabulary(counts, Ids{5}, 4), (Ids{5, 2, 1, 3}));
  EXPECT_EQ(ChooseDraftVocabulary(counts, Ids{}, 6), (Ids{2, 1, 3, 6, 0, 4}));
  EXPECT_EQ(ChooseDraftVocabulary(counts, Ids{6, 6}, 1), (Ids{6}));
  EXPECT_EQ(ChooseDraftVocabulary(counts, Ids{}, 100).size(), 7U);
}

class DraftVocabularyFile : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) const {
    const std::string path = folder_ / "tokens.json";
    std::ofstream(path) << text;
    return path;
  }
  // What is said of the file; empty: it is fine.
  std::string Complaint(const std::string& text) const {
    try {
      ReadDraftVocabulary(Write(text), 100);
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kUsage);
      EXPECT_EQ(e.location().file, folder_ / "tokens.json");
      return e.location().field + " " + e.reason();
    }
  }

  TempFolder folder_;
};

TEST_F(DraftVocabularyFile, IsReadAsItWasWritten) {
  const Ids ids = {7, 0, 99, 12};
  EXPECT_EQ(ReadDraftVocabulary(Write(DraftVocabularyText(ids, 100)), 100), ids);
}

TEST_F(DraftVocabularyFile, SaysWhatIsWrong) {
  const auto with = [](const std::string& size, const std::string& ids) {
    return R"({"format": "platen-draft-vocabulary-1", "vocab_size": )" + size + R"(, "ids": )" +
           ids + "}";
  };
  EXPECT_EQ(Complaint(with("100", "[1, 2]")), "");
  EXPECT_NE(Complaint(with("99", "[1]")).find("vocab_size is 99, the model's is 100"),
            std::string::npos);
  EXPECT_NE(Complaint(with("100", "[1, 2, 1]")).find("ids names 1 twice"), std::string::npos);
  for (const char* ids : {"[100]", "[-1]", "[1.5]", "[\"a\"]", "[]", "3", "null", "[[1]]"}) {
    EXPECT_TRUE(Complaint(with("100", ids)).starts_with("ids ")) << ids;
  }
  EXPECT_TRUE(Complaint(R"({"format": "x", "vocab_size": 100, "ids": [1]})").starts_with("format"));
  EXPECT_NE(Complaint("{"), "");
  EXPECT_NE(Complaint("[]"), "");
}

class ReducedHead : public ::testing::TestWithParam<Precision> {
 protected:
  const Model& model() const { return GoldenModel("tiny-a", GetParam()); }
};

TEST_P(ReducedHead, ScoresItsTokensAsTheWholeHeadDoes) {
  const TextSizes& sizes = model().architecture().text();
  constexpr int64_t kRows = 5;
  Mat hidden(kRows, sizes.hidden_size);
  for (int64_t i = 0; i < kRows * sizes.hidden_size; ++i) {
    hidden.View().data[i] = std::sin(static_cast<float>(i));
  }
  const auto workspace = model().draft()->MakeWorkspace();
  Mat whole(kRows, sizes.vocab_size), reduced(kRows, sizes.vocab_size);
  DraftHead(model(), {}).Logits(hidden.View(), whole.View(), *workspace);
  const Ids ids = {70, 3, 4, 5, 200, 3};
  DraftHead(model(), ids).Logits(hidden.View(), reduced.View(), *workspace);

  std::set<TokenId> kept(ids.begin(), ids.end());
  const auto& stop = model().architecture().tokens().stop;
  ASSERT_FALSE(stop.empty());
  kept.insert(stop.begin(), stop.end());
  for (int64_t r = 0; r < kRows; ++r) {
    for (TokenId id = 0; id < sizes.vocab_size; ++id) {
      const float expected =
          kept.contains(id) ? whole.View().Row(r)[id] : -std::numeric_limits<float>::infinity();
      ASSERT_EQ(reduced.View().Row(r)[id], expected) << "row " << r << ", token " << id;
    }
  }
}

// Greedy, drawn, and judged by chances; drafts are of the vocabulary, and some of them right.
TEST_P(ReducedHead, DraftsItsTokensAndChangesNoText) {
  const GoldenCase golden("tests/golden/cases/tiny-a/tiny20");
  for (const float temperature : {0.0F, 0.8F}) {
    Request request = GoldenRequest(model(), golden);
    request.max_new_tokens = 40;
    request.ignore_stop = true;
    request.sampling = {.temperature = temperature, .seed = 11};
    EngineOptions options;
    options.draft_length = 0;
    Engine plain(model(), options);
    const Ids expected = Decided(*RunToEnd(plain, request));

    options.draft_length = 4;
    options.drafters = DrafterChoice::kMtp;
    std::set<TokenId> vocabulary(expected.begin(), expected.begin() + 20);
    options.draft_vocabulary.assign(vocabulary.begin(), vocabulary.end());
    const auto& stop = model().architecture().tokens().stop;
    vocabulary.insert(stop.begin(), stop.end());
    int64_t drafted = 0;
    options.instruments.on_round = [&](const Round& round) {
      for (const TokenId id : round.drafts) {
        EXPECT_TRUE(vocabulary.contains(id)) << id;
        ++drafted;
      }
    };
    Engine engine(model(), options);
    EXPECT_EQ(Decided(*RunToEnd(engine, request)), expected);
    EXPECT_GT(drafted, 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, ReducedHead,
                         ::testing::Values(Precision::kF32, Precision::kInt8),
                         [](const auto& test) { return std::string(PrecisionName(test.param)); });

// Each of two sequences has the drafters it asks for, in one batch.
TEST(RequestDrafters, ARequestNamesItsOwn) {
  const Model& model = GoldenModel("tiny-a");
  Request request = GoldenRequest(model, GoldenCase("tests/golden/cases/tiny-a/text_only"));
  request.max_new_tokens = 60;
  request.ignore_stop = true;
  EngineOptions options;
  options.draft_length = 0;
  Engine plain(model, options);
  const Ids expected = Decided(*RunToEnd(plain, request));

  options.draft_length = 3;
  std::map<SequenceId, int64_t> drafted;
  options.instruments.on_round = [&](const Round& round) {
    drafted[round.sequence] += static_cast<int64_t>(round.drafts.size());
  };
  Engine engine(model, options);
  std::map<DrafterChoice, SequenceId> ids;
  for (const auto choice : {DrafterChoice::kAuto, DrafterChoice::kMtp, DrafterChoice::kNone}) {
    request.drafting.drafters = choice;
    ids[choice] = Start(engine, request)->id;
  }
  for (size_t finished = 0; finished < ids.size();) {
    for (const auto& s : engine.Step()) {
      EXPECT_EQ(Decided(*s), expected);
      ++finished;
    }
  }
  EXPECT_GT(drafted[ids[DrafterChoice::kAuto]], 0);
  EXPECT_GT(drafted[ids[DrafterChoice::kMtp]], 0);
  EXPECT_EQ(drafted[ids[DrafterChoice::kNone]], 0);
}

TEST(RequestDrafters, AreKnownByName) {
  for (const char* name : {"auto", "mtp", "ngram", "mtp,ngram", "none"}) {
    EXPECT_TRUE(FindDrafterChoice(name).has_value()) << name;
  }
  EXPECT_FALSE(FindDrafterChoice("").has_value());
  EXPECT_FALSE(FindDrafterChoice("ngram,mtp,").has_value());
}

}  // namespace
}  // namespace platen::testing
