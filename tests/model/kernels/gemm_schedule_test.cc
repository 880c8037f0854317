// Choosing among the schedules of the int8 product.
#include "model/kernels/gemm_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/model/kernels/framed.h"

namespace platen {
namespace {

TEST(ChooseSchedule, TakesTheOneWhoseFastestRoundIsFastest) {
  EXPECT_EQ(ChooseSchedule({{3.0, 1.0, 2.0}, {1.5, 1.5, 1.5}}), 0);
  EXPECT_EQ(ChooseSchedule({{3.0, 1.6, 2.0}, {9.0, 1.5, 9.0}}), 1);
  EXPECT_EQ(ChooseSchedule({{3.0}, {2.0}, {1.0}}), 2);
}

TEST(ChooseSchedule, OneDisturbedRoundDecidesNothing) {
  EXPECT_EQ(ChooseSchedule({{1.0, 100.0, 1.0}, {1.6, 1.6, 1.6}}), 0);
  EXPECT_EQ(ChooseSchedule({{1.6, 1.6, 1.6}, {100.0, 1.0, 1.0}}), 1);
}

TEST(ChooseSchedule, TakesTheFirstOfEqualsAndOfNone) {
  EXPECT_EQ(ChooseSchedule({{2.0, 1.0}, {1.0, 2.0}}), 0);
  EXPECT_EQ(ChooseSchedule({}), 0);
  EXPECT_EQ(ChooseSchedule({{}, {}}), 0);
}

TEST(WithSchedule, PutsItsProductAndWayOfReadingToUse) {
  for (const KernelTable* table : Tables()) {
    SCOPED_TRACE(table->name);
    for (int i = 0; i < table->schedules.count; ++i) {
      const KernelTable changed = WithSchedule(*table, i);
      EXPECT_EQ(changed.schedule, i);
      EXPECT_EQ(changed.gemm_s8, table->schedules.list[i].gemm_s8);
      EXPECT_EQ(changed.heads_together, table->schedules.list[i].prefetch_streams == 1);
    }
  }
}

// A table that was never measured is usable: its first schedule, or its only product, is in use.
TEST(KernelTables, TheFirstScheduleIsInUse) {
  for (const KernelTable* table : Tables()) {
    SCOPED_TRACE(table->name);
    EXPECT_EQ(table->schedule, 0);
    ASSERT_NE(table->gemm_s8, nullptr);
    if (table->schedules.count == 0) continue;
    EXPECT_EQ(table->gemm_s8, table->schedules.list[0].gemm_s8);
    EXPECT_EQ(table->heads_together, table->schedules.list[0].prefetch_streams == 1);
  }
}

TEST(KernelTables, NoTwoSchedulesAreTheSame) {
  for (const KernelTable* table : Tables()) {
    SCOPED_TRACE(table->name);
    for (int i = 0; i < table->schedules.count; ++i) {
      for (int j = 0; j < i; ++j) {
        EXPECT_STRNE(table->schedules.list[i].name, table->schedules.list[j].name);
        EXPECT_NE(table->schedules.list[i].gemm_s8, table->schedules.list[j].gemm_s8);
      }
    }
  }
}

TEST(MeasureSchedules, TimesEveryScheduleInEveryRound) {
  for (const KernelTable* table : Tables()) {
    SCOPED_TRACE(table->name);
    const ScheduleTimings timings = MeasureSchedules(table->schedules);
    ASSERT_EQ(timings.size(), static_cast<size_t>(table->schedules.count));
    for (const std::vector<double>& rounds : timings) {
      EXPECT_EQ(rounds.size(), timings[0].size());
      for (const double seconds : rounds) EXPECT_TRUE(std::isfinite(seconds) && seconds > 0);
    }
    const KernelTable fastest = WithFastestSchedule(*table);
    EXPECT_STREQ(fastest.name, table->name);
    EXPECT_LT(fastest.schedule, std::max(1, table->schedules.count));
  }
}

}  // namespace
}  // namespace platen
