// Loops run to their end whatever becomes of the work around them.
#include "model/ops/parallel.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace platen {
namespace {

constexpr int64_t kBodies = 5000;

// How often each body of a loop ran that is nested in other parallel work, as the loops of a stage
// are in the graph. `during` is called by every body.
template <typename During>
std::vector<int> RunsInside(tbb::task_group_context& outer, const During& during) {
  std::vector<std::atomic<int>> runs(kBodies);
  tbb::parallel_for(
      0, 1,
      [&](int) {
        ParallelFor(kBodies, [&](int64_t i) {
          ++runs[static_cast<size_t>(i)];
          during(i);
        });
      },
      tbb::simple_partitioner(), outer);
  return {runs.begin(), runs.end()};
}

class ParallelForTest : public ::testing::TestWithParam<int> {
 protected:
  template <typename Work>
  void InArena(const Work& work) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(GetParam()));
    tbb::task_arena arena(GetParam());
    arena.execute(work);
  }
};

TEST_P(ParallelForTest, RunsEveryBodyThoughTheWorkAroundItIsCancelledMeanwhile) {
  InArena([] {
    tbb::task_group_context outer;
    const auto runs = RunsInside(outer, [&](int64_t i) {
      if (i == 100) outer.cancel_group_execution();
    });
    EXPECT_EQ(runs, std::vector<int>(kBodies, 1));
  });
}

TEST_P(ParallelForTest, RunsEveryBodyThoughTheWorkAroundItIsCancelledBefore) {
  InArena([] {
    tbb::task_group_context outer;
    std::vector<std::atomic<int>> runs(kBodies);
    tbb::parallel_for(
        0, 1,
        [&](int) {
          outer.cancel_group_execution();
          ParallelFor(kBodies, [&](int64_t i) { ++runs[static_cast<size_t>(i)]; });
        },
        tbb::simple_partitioner(), outer);
    EXPECT_EQ(std::vector<int>(runs.begin(), runs.end()), std::vector<int>(kBodies, 1));
  });
}

TEST_P(ParallelForTest, AnExceptionOfABodyIsThrownAndStopsFurtherBodies) {
  InArena([] {
    tbb::task_group_context outer;
    std::atomic<int64_t> runs = 0;
    bool thrown = false;
    tbb::parallel_for(
        0, 1,
        [&](int) {
          try {
            ParallelFor(1'000'000, [&](int64_t) {
              if (++runs == 10) throw std::runtime_error("this body");
            });
          } catch (const std::runtime_error& e) {
            thrown = std::string(e.what()) == "this body";
          }
        },
        tbb::simple_partitioner(), outer);
    EXPECT_TRUE(thrown);
    EXPECT_LT(runs, 1'000'000);
    EXPECT_FALSE(outer.is_group_execution_cancelled());  // the loop's trouble is the loop's
  });
}

TEST_P(ParallelForTest, ALoopInsideABodyIsStoppedByNobodyElsesException) {
  InArena([] {
    std::atomic<int64_t> inner = 0;
    std::atomic<int64_t> loops = 0;
    EXPECT_THROW(ParallelFor(8,
                             [&](int64_t i) {
                               if (i == 3) throw std::runtime_error("that body");
                               ++loops;
                               ParallelFor(kBodies, [&](int64_t) { ++inner; });
                             }),
                 std::runtime_error);
    EXPECT_EQ(inner, loops * kBodies);
  });
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelForTest, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace platen
