#include "model/ops/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace platen {
namespace {

TEST(ExactSinCos, IsTheRoundedDoubleResultOverTheWholeRangeOfAngles) {
  double worst = 0;
  for (int i = 0; i < 400'000; ++i) {
    const float angle = static_cast<float>(i) * 0.327F - 100.0F;
    const SinCos value = ExactSinCos(angle);
    worst = std::max(worst, std::abs(value.sin - std::sin(static_cast<double>(angle))));
    worst = std::max(worst, std::abs(value.cos - std::cos(static_cast<double>(angle))));
  }
  EXPECT_LE(worst, 3.1e-8);  // half a unit in the last place of f32 near 1
}

TEST(MropeTables, SectionsAreContiguousAndFollowTimeHeightWidth) {
  const std::vector<float> f = InverseFrequencies(10000.0, 16);
  const std::vector<int32_t> t = {3}, h = {5}, w = {11};
  Mat cos(1, 16), sin(1, 16);
  FillMropeTables(f, {2, 3, 3}, {t, h, w}, cos.View(), sin.View());
  const int position[8] = {3, 3, 5, 5, 5, 11, 11, 11};
  for (int i = 0; i < 8; ++i) {
    const float angle = static_cast<float>(position[i]) * f[static_cast<size_t>(i)];
    EXPECT_EQ(cos.data()[2 * i], ExactSinCos(angle).cos);
    EXPECT_EQ(cos.data()[2 * i + 1], ExactSinCos(angle).cos);
    EXPECT_EQ(sin.data()[2 * i], -ExactSinCos(angle).sin);
    EXPECT_EQ(sin.data()[2 * i + 1], ExactSinCos(angle).sin);
  }
}

TEST(MropeTables, EmptySectionsAreSkipped) {
  const std::vector<float> f = InverseFrequencies(100.0, 4);
  const std::vector<int32_t> t = {1}, h = {2}, w = {4};
  Mat cos(1, 4), sin(1, 4);
  FillMropeTables(f, {0, 0, 2}, {t, h, w}, cos.View(), sin.View());
  EXPECT_EQ(sin.data()[1], ExactSinCos(4.0F * f[0]).sin);
}

TEST(VisionTables, FollowMergeBlockOrder) {
  const std::vector<float> f = InverseFrequencies(10000.0, 4);
  Mat cos(16, 4), sin(16, 4);
  FillVisionRopeTables(f, 4, 4, cos.View(), sin.View());
  // Patch 6 is the third of the second block: row 1, column 2.
  EXPECT_EQ(sin.View().Row(6)[1], ExactSinCos(1.0F * f[1]).sin);
  EXPECT_EQ(sin.View().Row(6)[2], ExactSinCos(2.0F * f[0]).sin);
  // Patch 13 is the second of the last block: row 2, column 3.
  EXPECT_EQ(cos.View().Row(13)[0], ExactSinCos(2.0F * f[0]).cos);
  EXPECT_EQ(cos.View().Row(13)[3], ExactSinCos(3.0F * f[1]).cos);
}

}  // namespace
}  // namespace platen
