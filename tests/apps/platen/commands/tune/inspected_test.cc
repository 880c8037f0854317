#include "apps/platen/commands/tune/inspect/inspected.h"

#include <gtest/gtest.h>

#include "apps/platen/commands/tune/inspect/token_text.h"
#include "apps/platen/commands/tune/inspect/training_log.h"
#include "tests/apps/platen/commands/tune/made_up_drafts.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {
namespace {

// Answers 1 2 3 4 and drafts that miss where they differ.
struct Regions {
  Regions() {
    for (int i = 0; i < 3; ++i)
      made.push_back(MakeRegion("a", "1/" + std::to_string(i), {1, 2, 3, 4}));
    for (const TrainingPage& page : made) pages.push_back(&page);
  }
  std::vector<TrainingPage> made;
  std::vector<const TrainingPage*> pages;
};

TEST(Inspected, CountsTheMissesThatEndedARound) {
  const Regions regions;
  // The first: two misses (7 for 2, 8 for 4: the round of row 1 has its first right). The second: 9
  // for 3 is behind the wrong 7, so no round ended with it there; then 9 for 3 by a round of its
  // own.
  std::vector<PageDrafts> drafts;
  drafts.push_back(MakeDrafts(regions.made[0], {{7, 3, 4}, {3, 8}}));
  drafts.push_back(MakeDrafts(regions.made[1], {{7, 9, 4}, {9, 4}}));
  drafts.push_back(MakeDrafts(regions.made[2], {{2, 3, 4}, {3, 4}}));
  const InspectedSide side = SideOf("after", std::move(drafts), 2);
  const std::vector<Miss> misses = FrequentMisses(regions.pages, side, 10);
  ASSERT_EQ(misses.size(), 3U);
  EXPECT_EQ((std::vector<int64_t>{misses[0].expected, misses[0].drafted, misses[0].count}),
            (std::vector<int64_t>{2, 7, 2}));
  EXPECT_EQ((std::vector<int64_t>{misses[1].expected, misses[1].drafted, misses[1].count}),
            (std::vector<int64_t>{3, 9, 1}));
  EXPECT_EQ((std::vector<int64_t>{misses[2].expected, misses[2].drafted, misses[2].count}),
            (std::vector<int64_t>{4, 8, 1}));
  EXPECT_EQ(FrequentMisses(regions.pages, side, 1).size(), 1U);
  EXPECT_EQ(MostMissed(side, 2), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(MostMissed(side, 9), (std::vector<size_t>{0, 1, 2}));
}

TEST(TokenText, ShowsWhatCannotBeSeen) {
  EXPECT_EQ(VisibleToken(" the"), "␣the");
  EXPECT_EQ(ReadableToken(" the"), " the");
  EXPECT_EQ(VisibleToken("\n\t\r\x01\x7f"), "↵⇥\\x0D\\x01\\x7F");
  EXPECT_EQ(VisibleToken(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(VisibleToken("\xC2\x85\xC2\xA0"), "\\x85\\u{A0}");
  EXPECT_EQ(VisibleToken("\xFF\xE4\xB8z"), "\\xFF\\xE4\\xB8z");
  EXPECT_EQ(VisibleToken("\xE2\x80\xAE\xE2\x80\x8B\xEF\xBB\xBF"), "\\u{202E}\\u{200B}\\u{FEFF}");
  EXPECT_EQ(VisibleToken("ä中א"), "ä中א");
  const std::string cut = VisibleToken(std::string(500, 'x'));
  EXPECT_LT(cut.size(), 60U);
  EXPECT_TRUE(cut.ends_with("x…"));
}

TEST(TrainingLog, TakesTheLastOfEveryStepAndLeavesOutWhatIsNone) {
  const TempFolder temp;
  temp.Write("log.jsonl",
             "{\"step\":1,\"loss_of_draft\":[4,5],\"tokens_per_round\":1.5}\n"
             "{\"step\":2,\"loss_of_draft\":[3,4]}\n"
             "no line\n{\"step\":0}\n{\"step\":\"3\"}\n[]\n"
             "{\"step\":4,\"loss_of_draft\":[1,-1],\"tokens_per_round\":\"x\"}\n"
             "{\"step\":5,\"loss_of_draft\":{},\"tokens_per_round\":1e300}\n"
             "{\"step\":2,\"loss_of_draft\":[2,3]}\n{\"step\":99999999999999999999}\n{\"st");
  const TrainingCurves curves = ReadTrainingLog(Folder::Open(temp.path(), Folder::Missing::kFail));
  EXPECT_EQ(curves.steps, 5);
  ASSERT_EQ(curves.loss_of_draft.size(), 2U);
  const auto text = [](const Curve& curve) {
    std::string words;
    for (const CurvePoint& p : curve) {
      words += std::to_string(p.step) + ":" + std::to_string(static_cast<int>(p.value * 10)) + " ";
    }
    return words;
  };
  EXPECT_EQ(text(curves.loss_of_draft[0]), "1:40 2:20 4:10 ");
  EXPECT_EQ(text(curves.loss_of_draft[1]), "1:50 2:30 ");
  EXPECT_EQ(text(curves.tokens_per_round), "1:15 ");
}

TEST(TrainingLog, IsThinnedByMeans) {
  Curve curve;
  for (int i = 1; i <= 1000; ++i) curve.push_back({i, static_cast<double>(i)});
  const Curve thin = Thinned(curve, 10);
  ASSERT_EQ(thin.size(), 10U);
  EXPECT_EQ(thin[0].step, 50);
  EXPECT_NEAR(thin[0].value, 50.5, 1e-9);
  EXPECT_EQ(Thinned(curve, 1000).size(), 1000U);
}

}  // namespace
}  // namespace platen::testing
