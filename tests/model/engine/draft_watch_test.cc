// Drafts of a file are noticed when they are worse than the model's own, and then alone.
#include "model/engine/draft_watch.h"

#include <gtest/gtest.h>

#include <random>

namespace platen::testing {
namespace {

const std::vector<double> kOwn = {0.95, 0.90, 0.85};  // 3.7 tokens a round

// Rounds whose drafts are right with a chance each, given those before; the rounds until the watch
// says so, at most `most`.
int RoundsUntilWorse(double chance, int planned, int most, uint64_t seed) {
  DraftWatch watch(kOwn);
  std::mt19937_64 rng(seed);
  std::bernoulli_distribution right(chance);
  for (int n = 1; n <= most; ++n) {
    int accepted = 0;
    while (accepted < planned && right(rng)) ++accepted;
    watch.Add(planned, accepted);
    if (watch.worse()) return n;
  }
  return most + 1;
}

TEST(DraftWatchTest, NonsenseIsNoticedAtOnce) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(RoundsUntilWorse(0.0, 3, 1000, seed), 16);
  }
}

TEST(DraftWatchTest, ASmallLossIsNoticedInTime) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_LE(RoundsUntilWorse(0.80, 3, 1000, seed), 400) << seed;  // 2.95 tokens a round
  }
}

TEST(DraftWatchTest, DraftsAsGoodAsTheModelsOwnStay) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_GT(RoundsUntilWorse(0.95, 3, 4000, seed), 4000) << seed;  // 3.71
    EXPECT_GT(RoundsUntilWorse(0.99, 1, 4000, seed), 4000) << seed << ": fewer drafts";
  }
}

// Worse pages at the end of a long run: what was long ago does not count.
TEST(DraftWatchTest, OnlyTheLastRoundsCount) {
  DraftWatch watch(kOwn);
  for (int n = 0; n < 10000; ++n) watch.Add(3, 3);
  EXPECT_DOUBLE_EQ(watch.tokens_per_round(), 4);
  int bad = 0;
  while (!watch.worse() && bad < 1000) {
    watch.Add(3, 0);
    ++bad;
  }
  EXPECT_LT(bad, 250);
}

// Drafts beyond those that the file knows of say nothing.
TEST(DraftWatchTest, DraftsThatWereNotJudgedDoNotCount) {
  DraftWatch watch(kOwn);
  for (int n = 0; n < 100; ++n) watch.Add(8, 3);
  EXPECT_DOUBLE_EQ(watch.tokens_per_round(), 4);
  EXPECT_NEAR(watch.own_tokens_per_round(), 3.7, 1e-12);
  EXPECT_FALSE(watch.worse());
}

TEST(DraftWatchTest, WatchesAllAtFirstThenEveryEighth) {
  DraftWatch watch(kOwn);
  EXPECT_TRUE(watch.Wants(3));
  for (int n = 0; n < 32; ++n) watch.Add(3, 3);
  int wanted = 0;
  for (int64_t rounds = 0; rounds < 80; ++rounds) wanted += watch.Wants(rounds) ? 1 : 0;
  EXPECT_EQ(wanted, 10);
}

}  // namespace
}  // namespace platen::testing
