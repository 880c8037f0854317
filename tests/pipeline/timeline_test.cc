#include "pipeline/timeline.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

TEST(Timeline, KeepsPointsThatAreEvenlySpreadHoweverLongTheRunIs) {
  Timeline timeline;
  Progress progress;
  constexpr int kSeconds = 100'000;
  for (int s = 1; s <= 10 * kSeconds; ++s) {
    progress.pages_read = s;
    timeline.Add(s * 0.1, progress);
  }
  timeline.Finish(kSeconds, progress);
  const auto points = timeline.points();
  ASSERT_GE(points.size(), Timeline::kMostPoints / 2);
  ASSERT_LE(points.size(), Timeline::kMostPoints + 1);
  EXPECT_EQ(points.back().at_s, kSeconds);
  EXPECT_EQ(points.back().pages_read, 10 * kSeconds);
  for (size_t i = 2; i + 1 < points.size(); ++i) {
    EXPECT_NEAR(points[i].at_s - points[i - 1].at_s, points[1].at_s - points[0].at_s, 1) << i;
  }
}

TEST(Timeline, OfAShortRunIsItsEnd) {
  Timeline timeline;
  timeline.Add(0.5, {});
  timeline.Finish(0.7, {});
  ASSERT_EQ(timeline.points().size(), 1U);
  EXPECT_EQ(timeline.points()[0].at_s, 0.7);
}

}  // namespace
}  // namespace platen
