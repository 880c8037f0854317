// What a run takes of the memory it may use.
#include "pipeline/memory_plan.h"

#include <gtest/gtest.h>

#include <utility>

namespace platen {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

TEST(MemoryPlanTest, ALargeMachineGetsTheUsualPlan) {
  for (const int64_t memory : {64 * kGiB, 1024 * kGiB}) {
    const MemoryPlan plan = PlanMemory(memory);
    EXPECT_EQ(plan.kv_cache_bytes, 16 * kGiB);
    EXPECT_EQ(plan.slots, 8);
    EXPECT_EQ(plan.pixels, 8 * kPixelsOfASlot);
  }
}

TEST(MemoryPlanTest, ASmallContainerGetsItsShare) {
  const MemoryPlan plan = PlanMemory(kGiB);
  EXPECT_EQ(plan.kv_cache_bytes, kGiB / 4);
  EXPECT_EQ(plan.slots, 1);
  EXPECT_EQ(plan.pixels, kPixelsOfASlot);
}

TEST(BatchPlanTest, OnlySmallLayersAreReadForFewRows) {
  const auto plan = [](int hidden_size, int threads) {
    const BatchPlan batches = PlanBatches(hidden_size, threads);
    return std::pair(batches.patches, batches.rows);
  };
  EXPECT_EQ(plan(128, 1), std::pair(256, 64));
  EXPECT_EQ(plan(128, 16), std::pair(2048, 512));
  EXPECT_EQ(plan(256, 1 << 30), std::pair(2400, 2400));
  EXPECT_EQ(plan(257, 1), std::pair(2400, 2400));
}

TEST(MemoryPlanTest, ThereIsAlwaysEnoughForOnePage) {
  for (const int64_t memory : {int64_t{0}, int64_t{-1}, int64_t{1} << 20}) {
    const MemoryPlan plan = PlanMemory(memory);
    EXPECT_GE(plan.kv_cache_bytes, 16 << 20);
    EXPECT_EQ(plan.slots, 1);
    EXPECT_EQ(plan.pixels, kPixelsOfASlot);
  }
}

TEST(MemoryPlanTest, MoreMemoryNeverMeansLess) {
  MemoryPlan before = PlanMemory(0);
  for (int64_t memory = 0; memory < 128 * kGiB; memory += kGiB / 16) {
    const MemoryPlan plan = PlanMemory(memory);
    EXPECT_GE(plan.kv_cache_bytes, before.kv_cache_bytes);
    EXPECT_GE(plan.slots, before.slots);
    EXPECT_GE(plan.pixels, before.pixels);
    before = plan;
  }
}

}  // namespace
}  // namespace platen
