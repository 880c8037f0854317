// The number of drafts follows what passes cost and how many drafts are right. The machine is made
// up here: costs are functions, so nothing depends on a clock.
#include "model/engine/draft_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

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
// number of drafts was chosen in the second half. A sequence that does not draft gets `lag` rows
// behind at most.
std::vector<int> Simulate(DraftPlanner& planner, const Machine& machine, int64_t live, double right,
                          int rounds, int64_t lag = 32, unsigned seed = 1) {
  std::minstd_rand rng(seed);
  std::uniform_real_distribution<double> chance(0, 1);
  std::vector<int> chosen(9, 0);
  std::vector<int64_t> lagging(static_cast<size_t>(live), 1);
  for (int round = 0; round < rounds; ++round) {
    const int k = planner.Choose(live, 8);
    if (round >= rounds / 2) ++chosen[static_cast<size_t>(k)];
    const DraftPlanner::ProbedSequence probe = planner.Probe(live, k);
    RoundCosts costs;
    DraftCosts& draft = costs.draft;
    for (int64_t i = 0; i < live; ++i) {
      int64_t& rows_behind = lagging[static_cast<size_t>(i)];
      const int drafts = k + (i == probe.place ? probe.drafts : 0);
      int accepted = 0;
      while (accepted < drafts && chance(rng) < right) ++accepted;
      planner.AddAcceptance({}, drafts, accepted);
      costs.verify_rows += drafts + 1;
      if (drafts > 0) {
        draft.extend_rows += std::exchange(rows_behind, 0);
        draft.chain_passes = std::max<int64_t>(draft.chain_passes, drafts - 1);
        draft.chain_rows += drafts - 1;
      }
      rows_behind = std::min(lag, rows_behind + accepted + 1);
    }
    costs.verify_seconds = machine.verify(costs.verify_rows);
    if (draft.extend_rows > 0) draft.extend_seconds = machine.draft(draft.extend_rows);
    if (draft.chain_passes > 0) {
      draft.chain_seconds = static_cast<double>(draft.chain_passes) *
                            machine.draft(draft.chain_rows / draft.chain_passes);
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
  EXPECT_GE(Simulate(planner, {Roofline, CheapDraft}, 1, 0.0, 400)[0], 180);
}

TEST(DraftPlanner, DraftsThatBecomeRightAreNoticed) {
  DraftPlanner planner(3);
  Simulate(planner, {Roofline, CheapDraft}, 1, 0.0, 400);
  EXPECT_GE(Simulate(planner, {Roofline, CheapDraft}, 1, 0.95, 20000)[3], 9000);
}

// A probe after a long time without drafts runs over all rows since: that is not what drafts cost.
TEST(DraftPlanner, ADraftLayerThatIsFarBehindDoesNotMakeDraftsLookDear) {
  const Machine machine = {Roofline,
                           [](int64_t rows) { return 0.5e-3 * static_cast<double>(rows); }};
  DraftPlanner planner(3);
  Simulate(planner, machine, 1, 0.0, 400, /*lag=*/100);
  EXPECT_GE(Simulate(planner, machine, 1, 0.95, 20000, /*lag=*/100)[3], 9000);
}

// Seconds of passes over a model of 0.9 B parameters in int8 on one core with AVX-512 VNNI.
double MeasuredVerify(int64_t rows) {
  const auto r = static_cast<double>(rows);
  return 1e-3 * std::max(24.0 + 2.2 * r, 4.4 * r);
}
double MeasuredDraft(int64_t rows) { return 1e-3 * (5.2 + 0.25 * static_cast<double>(rows)); }

// A machine that others use too: passes take up to a quarter more, and for a while 1.5 times as
// long.
Machine Shared(unsigned seed) {
  auto rng = std::make_shared<std::minstd_rand>(seed);
  auto passes = std::make_shared<int>(0);
  const auto slow = [rng, passes](double seconds) {
    const bool busy = ++*passes / 50 % 3 == 1;
    return seconds * std::uniform_real_distribution<double>(1, 1.25)(*rng) * (busy ? 1.5 : 1);
  };
  return {[slow](int64_t rows) { return slow(MeasuredVerify(rows)); },
          [slow](int64_t rows) { return slow(MeasuredDraft(rows)); }};
}

// Tokens per second of `live` sequences with k drafts each, on the machine by itself.
double Speed(int64_t live, int k, double right) {
  double tokens = 1, chance = 1;
  for (int j = 0; j < k; ++j) tokens += chance *= right;
  const double extend = k > 0 ? MeasuredDraft(std::llround(static_cast<double>(live) * tokens)) : 0;
  const double chain = k > 1 ? (k - 1) * MeasuredDraft(live) : 0;
  return static_cast<double>(live) * tokens / (MeasuredVerify(live * (k + 1)) + extend + chain);
}

TEST(DraftPlanner, OnASharedMachineItIsNearlyAsFastAsTheBestNumberOfDrafts) {
  for (const int64_t live : {1, 2, 4, 8, 12, 16, 24, 32}) {
    for (const double right : {0.0, 0.3, 0.6, 0.8, 0.95}) {
      for (unsigned seed = 1; seed <= 10; ++seed) {
        DraftPlanner planner(4);
        const std::vector<int> chosen =
            Simulate(planner, Shared(seed), live, right, 2000, 32, seed + 10);
        double best = 0, tokens = 0, seconds = 0;
        for (int k = 0; k <= 4; ++k) {
          best = std::max(best, Speed(live, k, right));
          const int rounds = chosen[static_cast<size_t>(k)];
          double decided = 1, chance = 1;
          for (int j = 0; j < k; ++j) decided += chance *= right;
          tokens += rounds * decided * static_cast<double>(live);
          seconds += rounds * decided * static_cast<double>(live) / Speed(live, k, right);
        }
        EXPECT_GE(tokens / seconds, std::max(0.94 * best, 0.97 * Speed(live, 0, right)))
            << live << " sequences, right " << right << ", seed " << seed << ": chosen "
            << ::testing::PrintToString(chosen) << ", of plain "
            << tokens / seconds / Speed(live, 0, right);
      }
    }
  }
}

TEST(DraftPlanner, NeverMoreThanAskedFor) {
  DraftPlanner planner(8);
  Simulate(planner, {Roofline, CheapDraft}, 1, 0.9, 200);
  for (int most = 0; most <= 8; ++most) {
    const int chosen = planner.Choose(1, most);
    EXPECT_LE(chosen, most);
    EXPECT_GE(chosen, std::min(most, 7) - 1);  // all that pay, or one less, to time it again
  }
}

TEST(DraftPlanner, ADraftThatIsSureToFailIsNotWorthItsPass) {
  DraftPlanner planner(3);
  Simulate(planner, {Roofline, CheapDraft}, 2, 0.8, 400);
  for (int i = 0; i < 200; ++i) {
    planner.AddAcceptance(std::vector<float>{0.98F}, 1, 1);
    planner.AddAcceptance(std::vector<float>{0.05F}, 1, 0);
  }
  const DraftLimits limits = planner.ChainLimits(2, 3);
  EXPECT_TRUE(limits.GoOn(std::vector<float>{0.98F}));
  EXPECT_TRUE(limits.GoOn(std::vector<float>{0.98F, 0.98F}));
  EXPECT_FALSE(limits.GoOn(std::vector<float>{0.98F, 0.05F}));
  // A pass and a row cost more than a row.
  EXPECT_GE(limits.least_chance, planner.VerifyLimits(2, 3).least_chance);
}

TEST(DraftPlanner, WhereEveryRowCostsArithmeticADoubtfulDraftIsNotVerified) {
  DraftPlanner planner(3);
  Simulate(planner, {Arithmetic, CheapDraft}, 16, 0.5, 400);
  const DraftLimits limits = planner.VerifyLimits(16, 1);
  EXPECT_GT(limits.least_chance, 0.5);
  DraftPlanner idle(3);  // rows up to the knee are free
  Simulate(idle, {Roofline, CheapDraft}, 1, 0.5, 400);
  EXPECT_LT(idle.VerifyLimits(1, 3).least_chance, 0.01);
}

TEST(DraftLimits, WithoutALimitEveryChainGoesOn) {
  EXPECT_TRUE(DraftLimits{}.GoOn(std::vector<float>{0.0F}));
}

TEST(DraftCalibration, BelievesTheDrafterAtFirstAndWhatHappenedLater) {
  DraftCalibration calibration;
  EXPECT_NEAR(calibration.Chance(0.9F), 0.9, 1e-6);
  for (int i = 0; i < 500; ++i) calibration.Add(0.9F, i % 2 == 0);
  EXPECT_NEAR(calibration.Chance(0.9F), 0.5, 0.05);
  EXPECT_NEAR(calibration.Chance(0.2F), 0.2, 1e-6);
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
    planner.Choose(1, 8);
    planner.AddCosts({{}, 1, 1e-3});
  }
  // Every pass was plain; a pass of more rows is taken to cost in proportion, drafts gain nothing.
  EXPECT_EQ(planner.Choose(1, 8), 0);
}

TEST(DraftPlanner, WithoutDraftsThereIsNothingToChoose) {
  DraftPlanner planner(0);
  EXPECT_EQ(planner.Choose(5, 8), 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(planner.Probe(5, 0).place, -1);
}

TEST(DraftPlanner, WhereNoDraftCouldPayNobodyTries) {
  // Every row costs its arithmetic, and drafts come on top: even right ones gain nothing.
  DraftPlanner planner(3);
  Simulate(planner, {Arithmetic, CheapDraft}, 32, 0.9, 200);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(planner.Probe(32, 0).place, -1);
}

TEST(DraftPlanner, ProbesVisitEverySequence) {
  DraftPlanner planner(3);
  planner.AddCosts({{4, 1e-6, 1, 4, 1e-6}, 4, 1e-3});
  planner.AddCosts({{}, 16, 1.1e-3});
  std::vector<int> probed(4, 0);
  for (int i = 0; i < 64 * 8; ++i) {
    const DraftPlanner::ProbedSequence probe = planner.Probe(4, 0);
    if (probe.place < 0) continue;
    EXPECT_EQ(probe.drafts, 3);
    ++probed[static_cast<size_t>(probe.place)];
  }
  EXPECT_EQ(probed, (std::vector<int>{2, 2, 2, 2}));
}

// Drafts that are made and then not verified gain nothing: to plan them is a loss.
TEST(DraftPlanner, DraftsThatAreAlwaysDroppedAreGivenUp) {
  DraftPlanner planner(1);
  planner.AddCosts({{1, 2e-3, 0, 0, 0}, 1, 8e-3});
  planner.AddCosts({{1, 2e-3, 0, 0, 0}, 2, 8e-3});
  EXPECT_EQ(planner.Choose(1, 1), 1);
  for (int i = 0; i < 100; ++i) planner.AddAcceptance({}, 0, 0, /*unsure=*/true);
  EXPECT_EQ(planner.Choose(1, 1), 0);
  EXPECT_LT(planner.PrefixChance(1), 0.3);
}

TEST(PrefixChance, CountsOnlyDraftsBeforeTheFirstWrongOne) {
  DraftPlanner planner(3);
  for (int i = 0; i < 2000; ++i) planner.AddAcceptance({}, 3, 1);
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
