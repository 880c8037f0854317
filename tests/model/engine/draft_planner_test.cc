// The number of drafts follows what passes cost and how many drafts are right. The machine is made
// up here: costs are functions, so nothing depends on a clock.
#include "model/engine/draft_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace platen {
namespace {

struct Machine {
  std::function<double(int64_t)> verify;
  std::function<double(int64_t)> draft;
};

// The time to stream the weights, then arithmetic for every row: knee at 8 rows.
double Roofline(int64_t rows) { return std::max(8.0, static_cast<double>(rows)) * 1e-3; }
double CheapDraft(int64_t rows) { return 0.06 * Roofline(rows); }
double Arithmetic(int64_t rows) { return static_cast<double>(rows) * 1e-3; }

// Rounds over `live` sequences whose drafts are right with chance `right`; returns how often each
// number of drafts was chosen in the second half.
std::vector<int> Simulate(DraftPlanner& planner, const Machine& machine, int64_t live, double right,
                          int rounds, unsigned seed = 1) {
  std::minstd_rand rng(seed);
  std::uniform_real_distribution<double> chance(0, 1);
  std::vector<int> chosen(9, 0);
  for (int round = 0; round < rounds; ++round) {
    const int k = planner.Choose(live);
    if (round >= rounds / 2) ++chosen[static_cast<size_t>(k)];
    const int64_t probe = k == 0 ? planner.Probe(live) : -1;
    RoundCosts costs;
    for (int64_t i = 0; i < live; ++i) {
      const int drafts = i == probe ? 3 : k;
      int accepted = 0;
      while (accepted < drafts && chance(rng) < right) ++accepted;
      planner.AddAcceptance(drafts, accepted);
      costs.verify_rows += drafts + 1;
      costs.draft_sequences += drafts > 0 ? 1 : 0;
      costs.draft_steps = std::max(costs.draft_steps, drafts);
    }
    costs.verify_seconds = machine.verify(costs.verify_rows);
    if (costs.draft_steps > 0) {
      costs.draft_seconds = costs.draft_steps * machine.draft(costs.draft_sequences);
    }
    planner.AddCosts(costs);
  }
  return chosen;
}

TEST(DraftPlanner, OneSequenceDraftsToTheFullLengthWhileRowsAreFree) {
  DraftPlanner planner(3);
  EXPECT_GE(Simulate(planner, {Roofline, CheapDraft}, 1, 0.9, 200)[3], 95);
}

TEST(DraftPlanner, AFullBatchDecodesPlainlyWhereEveryRowCostsArithmetic) {
  DraftPlanner planner(3);
  EXPECT_GE(Simulate(planner, {Arithmetic, CheapDraft}, 32, 0.9, 200)[0], 95);
}

TEST(DraftPlanner, FewerSequencesBringTheDraftsBack) {
  DraftPlanner planner(3);
  Simulate(planner, {Roofline, CheapDraft}, 32, 0.9, 200);
  EXPECT_GE(Simulate(planner, {Roofline, CheapDraft}, 2, 0.9, 200)[3], 95);
}

TEST(DraftPlanner, DraftsThatAreNeverRightAreGivenUp) {
  DraftPlanner planner(3);
  EXPECT_GE(Simulate(planner, {Roofline, CheapDraft}, 1, 0.0, 400)[0], 190);
}

TEST(DraftPlanner, DraftsThatBecomeRightAreNoticed) {
  DraftPlanner planner(3);
  Simulate(planner, {Roofline, CheapDraft}, 1, 0.0, 400);
  EXPECT_GE(Simulate(planner, {Roofline, CheapDraft}, 1, 0.95, 20000)[3], 9000);
}

TEST(DraftPlanner, ALengthBetweenIsFoundWhereTheKneeLiesThere) {
  // Four sequences: two rows each are free, three are not.
  DraftPlanner planner(3);
  const std::vector<int> chosen =
      Simulate(planner,
               {[](int64_t rows) { return rows <= 8 ? 8e-3 : 2e-3 * static_cast<double>(rows); },
                CheapDraft},
               4, 0.9, 200);
  EXPECT_GE(chosen[1], 95);
}

TEST(DraftPlanner, APlanThatIsNeverCarriedOutDoesNotHoldUpTheChoice) {
  // Sequences near their limit draft less than asked: the rows asked for never appear.
  DraftPlanner planner(8);
  for (int round = 0; round < 100; ++round) {
    planner.Choose(1);
    planner.AddCosts({0, 0, 0, 1, 1e-3});
  }
  // Every pass was plain; a pass of more rows is taken to cost in proportion, drafts gain nothing.
  EXPECT_EQ(planner.Choose(1), 0);
}

TEST(DraftPlanner, WithoutDraftsThereIsNothingToChoose) {
  DraftPlanner planner(0);
  EXPECT_EQ(planner.Choose(5), 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(planner.Probe(5), -1);
}

TEST(DraftPlanner, ProbesVisitEverySequence) {
  DraftPlanner planner(3);
  std::vector<int> probed(4, 0);
  for (int i = 0; i < 32 * 8; ++i) {
    const int64_t place = planner.Probe(4);
    if (place >= 0) ++probed[static_cast<size_t>(place)];
  }
  EXPECT_EQ(probed, (std::vector<int>{2, 2, 2, 2}));
}

TEST(PrefixChance, CountsOnlyDraftsBeforeTheFirstWrongOne) {
  DraftPlanner planner(3);
  for (int i = 0; i < 2000; ++i) planner.AddAcceptance(3, 1);
  EXPECT_NEAR(planner.PrefixChance(1), 1.0, 0.02);
  EXPECT_NEAR(planner.PrefixChance(2), 0.0, 0.08);
}

TEST(PassCost, InterpolatesAndNeverFallsAsRowsGrow) {
  PassCost cost;
  EXPECT_EQ(cost.Seconds(5), 0);
  cost.Add(4, 1.0);
  cost.Add(16, 0.5);  // noise: cannot be cheaper than fewer rows
  cost.Add(64, 4.0);
  EXPECT_TRUE(cost.Knows(4));
  EXPECT_FALSE(cost.Knows(3));
  EXPECT_DOUBLE_EQ(cost.Seconds(1), 1.0);
  EXPECT_DOUBLE_EQ(cost.Seconds(10), 1.0);
  EXPECT_DOUBLE_EQ(cost.Seconds(40), 2.5);
  EXPECT_DOUBLE_EQ(cost.Seconds(128), 8.0);
  for (int64_t rows = 1; rows < 300; ++rows) EXPECT_LE(cost.Seconds(rows), cost.Seconds(rows + 1));
}

TEST(PassCost, BucketsGrowWithRowsAndMissNone) {
  for (int64_t rows = 1; rows < 5000; ++rows) {
    const size_t step = PassCost::BucketOf(rows + 1) - PassCost::BucketOf(rows);
    EXPECT_LE(step, 1U) << rows;
  }
}

}  // namespace
}  // namespace platen
