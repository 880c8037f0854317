// The order of runs, with clocks that were set back.
#include "apps/platen/commands/report/run_order.h"

#include <gtest/gtest.h>

#include <limits>

namespace platen {
namespace {

using Names = std::vector<std::string>;

RunView RunAt(const std::string& name, const Shard& shard, int64_t number, int64_t started_s) {
  RunView run;
  run.name = name;
  run.shard = shard;
  run.number = number;
  run.started_s = started_s;
  return run;
}

Names Ordered(std::vector<std::vector<RunView>> parts) {
  Names names;
  for (const RunView& run : LatestFirst(std::move(parts))) names.push_back(run.name);
  return names;
}

TEST(RunOrder, OfOnePartIsThatOfNumbersWhateverTheClockSaid) {
  EXPECT_TRUE(Ordered({}).empty());
  EXPECT_TRUE(Ordered({{}, {}}).empty());
  EXPECT_EQ(
      Ordered({{RunAt("three", {}, 3, 100), RunAt("two", {}, 2, 9000), RunAt("one", {}, 1, 5000)}}),
      (Names{"three", "two", "one"}));
}

// The last clock was years back, the first years ahead.
TEST(RunOrder, OfJobsOfOtherCountsIsThatOfNumbers) {
  EXPECT_EQ(Ordered({{RunAt("sweep", {}, 5, 10), RunAt("first", {}, 1, 9000)},
                     {RunAt("1 of 2", {1, 2}, 2, 300)},
                     {RunAt("2 of 2", {2, 2}, 2, 200)},
                     {RunAt("1 of 3", {1, 3}, 4, 50), RunAt("1 of 3 before", {1, 3}, 3, 700)}}),
            (Names{"sweep", "1 of 3", "1 of 3 before", "1 of 2", "2 of 2", "first"}));
}

// Shard 1 was begun three times on the first day: shards do not count each other's runs.
TEST(RunOrder, AmongShardsOfOneCountStartTimesDecide) {
  EXPECT_EQ(Ordered({{RunAt("1, day 2", {1, 2}, 4, 2000), RunAt("1, again", {1, 2}, 3, 1002),
                      RunAt("1", {1, 2}, 2, 1000)},
                     {RunAt("2, day 2", {2, 2}, 3, 2001), RunAt("2", {2, 2}, 2, 1001)},
                     {RunAt("before", {}, 1, 3000)}}),
            (Names{"2, day 2", "1, day 2", "1, again", "2", "1", "before"}));
}

TEST(RunOrder, NumbersThatNoRunsGaveAreOrderedToo) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Ordered({{RunAt("a", {}, most, -5)}, {RunAt("b", {1, 2}, most, 5)}}),
            (Names{"b", "a"}));
}

}  // namespace
}  // namespace platen
