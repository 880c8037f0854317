// What trained weights must show before they take the place of others.
#include "model/training/draft_gate.h"

#include <gtest/gtest.h>

namespace platen::testing {
namespace {

constexpr RoundCost kCost = {1, 0.1};

// A page of `right` rows whose draft is right, then `wrong` ones.
PageHits Page(const std::string& document, int64_t right, int64_t wrong) {
  PageHits page;
  page.document = document;
  page.answer = right + wrong + 1;
  std::vector<uint8_t> hits(static_cast<size_t>(right), 1);
  hits.resize(static_cast<size_t>(right + wrong), 0);
  page.hits = {hits};
  return page;
}

// Documents of one folder, all alike.
void Add(const std::string& folder, int count, int64_t right, std::vector<PageHits>& pages) {
  for (int i = 0; i < count; ++i) {
    pages.push_back(Page(folder + "/" + std::to_string(i) + ".png", right, 40 - right));
  }
}

GateOutcome Judged(const std::vector<PageHits>& before, const std::vector<PageHits>& after,
                   const RoundCost& cost = kCost) {
  return JudgeDrafts({before, after}, {}, 1, kCost, cost, 3);
}

TEST(DraftGateTest, AGainBeyondChanceIsBetterAndNothingElse) {
  std::vector<PageHits> before, after, few_before, few_after;
  Add("letters", 8, 10, before);
  Add("letters", 8, 30, after);
  Add("letters", 4, 10, few_before);
  Add("letters", 4, 30, few_after);
  EXPECT_EQ(Judged(before, after).verdict, Verdict::kBetter);
  EXPECT_EQ(Judged(before, before).verdict, Verdict::kNoGain);
  EXPECT_EQ(Judged(after, before).verdict, Verdict::kNoGain);
  EXPECT_EQ(Judged(few_before, few_after).verdict, Verdict::kTooFewToTell);
  after = before;
  after[0] = Page(before[0].document, 40, 0);  // one document alone
  EXPECT_EQ(Judged(before, after).verdict, Verdict::kNoGain);
}

// All documents together gain; those of one folder lose.
TEST(DraftGateTest, AClassThatLosesSpeaksAgainst) {
  const auto outcome = [](int documents, int64_t right_after) {
    std::vector<PageHits> before, after;
    Add("a/letters", 12, 10, before);
    Add("a/letters", 12, 30, after);
    Add("a/forms", documents, 20, before);
    Add("a/forms", documents, right_after, after);
    return Judged(before, after);
  };
  EXPECT_EQ(outcome(5, 10).verdict, Verdict::kClassLoses);
  EXPECT_EQ(outcome(5, 20).verdict, Verdict::kBetter);
  EXPECT_EQ(outcome(4, 10).verdict, Verdict::kBetter) << "too few to be a class";
  const GateOutcome classes = outcome(5, 10);
  ASSERT_EQ(classes.classes.size(), 2U);
  EXPECT_EQ(classes.classes[0].name, "a/forms");
  EXPECT_EQ(classes.classes[0].documents, 5);
  EXPECT_LT(classes.classes[0].change(), -kMostLoss);
  EXPECT_GT(classes.classes[1].change(), 0.1);
  EXPECT_FALSE(classes.general);
}

TEST(DraftGateTest, AGeneralSetThatLosesSpeaksAgainst) {
  std::vector<PageHits> before, after, general_before, general_after;
  Add("letters", 8, 10, before);
  Add("letters", 8, 30, after);
  Add("other", 1, 30, general_before);
  Add("other", 1, 20, general_after);
  const auto verdict = [&](const auto& a, const auto& b) {
    return JudgeDrafts({before, after}, {a, b}, 1, kCost, kCost, 3).verdict;
  };
  EXPECT_EQ(verdict(general_before, general_after), Verdict::kGeneralLoses);
  EXPECT_EQ(verdict(general_after, general_before), Verdict::kBetter);
}

TEST(DraftGateTest, DraftsThatCostMoreThanTheyGainAreNotBetter) {
  std::vector<PageHits> before, after;
  Add("letters", 8, 10, before);
  Add("letters", 8, 12, after);
  const double gain = Judged(before, after).speed;
  EXPECT_GT(gain, 1);
  EXPECT_EQ(Judged(before, after, {1, 1.1 * gain * 1.1 - 1}).verdict, Verdict::kNotFaster);
  EXPECT_EQ(Judged(before, after, {1, 0.05}).verdict, Verdict::kBetter);
}

TEST(DraftGateTest, AClassIsTheFolderOfADocument) {
  EXPECT_EQ(ClassOf("1900/letters/a.tif"), "1900/letters");
  EXPECT_EQ(ClassOf("a.tif"), ".");
  EXPECT_EQ(ClassOf("/a.tif"), ".");
}

}  // namespace
}  // namespace platen::testing
