#include "model/attention_pages.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "model/support/bf16.h"

namespace platen {
namespace {

TEST(Bf16, RoundsToNearestTiesToEven) {
  EXPECT_EQ(ToBf16(1.0F), 0x3F80);
  EXPECT_EQ(ToBf16(-2.5F), 0xC020);
  EXPECT_EQ(ToBf16(0x1.01p0F), 0x3F80);          // half way, down to even
  EXPECT_EQ(ToBf16(0x1.03p0F), 0x3F82);          // half way, up to even
  EXPECT_EQ(ToBf16(0x1.010002p0F), 0x3F81);      // just above half way
  EXPECT_EQ(ToBf16(0x1.00FFFEp0F), 0x3F80);      // just below
  EXPECT_EQ(ToBf16(0x1.FFFFFEp0F), 0x4000);      // carries into the exponent
  for (const uint16_t bits : std::vector<uint16_t>{0x0000, 0x3F80, 0x4049, 0xBF01, 0x7F7F}) {
    EXPECT_EQ(ToBf16(FromBf16(bits)), bits);
  }
}

TEST(Bf16, KeepsNanAndInfinityAndTakesTinyValuesAsZero) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(FromBf16(ToBf16(infinity)), infinity);
  EXPECT_EQ(FromBf16(ToBf16(-infinity)), -infinity);
  EXPECT_TRUE(std::isnan(FromBf16(ToBf16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(FromBf16(ToBf16(0x1p-40F)), 0x1p-40F);
  EXPECT_EQ(ToBf16(0x1.FFFFFEp-41F), 0);
  EXPECT_EQ(ToBf16(-0x1p-41F), 0);
  EXPECT_EQ(ToBf16(std::numeric_limits<float>::denorm_min()), 0);
}

// Writes token t as key 100 t + d and value -(100 t + d), odd tokens last.
template <class T>
void Fill(const PageShape& shape, std::vector<T>& keys, std::vector<T>& values) {
  keys.assign(static_cast<size_t>(shape.key_bytes()) / sizeof(T), T{99});
  values.assign(static_cast<size_t>(shape.value_bytes()) / sizeof(T), T{99});
  for (const int parity : {0, 1}) {
    for (int t = parity; t < shape.tokens; t += 2) {
      std::vector<float> key, value;
      for (int d = 0; d < shape.head_dim; ++d) {
        key.push_back(static_cast<float>(100 * t + d));
        value.push_back(-key.back());
      }
      WriteToken(shape, t, key.data(), value.data(), keys.data(), values.data());
    }
  }
}

TEST(AttentionPages, F32PagesAreKeysByDimensionAndValuesByToken) {
  const PageShape shape = {.type = KvType::kF32, .tokens = 16, .head_dim = 6, .key_rows = 6,
                           .value_stride = 16};
  std::vector<float> keys, values;
  Fill(shape, keys, values);
  for (int t = 0; t < 16; ++t) {
    for (int d = 0; d < 16; ++d) {
      if (d < 6) {
        EXPECT_EQ(keys[static_cast<size_t>(d * 16 + t)], 100 * t + d);
      }
      EXPECT_EQ(values[static_cast<size_t>(t * 16 + d)], d < 6 ? -(100 * t + d) : 0);
    }
  }
}

TEST(AttentionPages, Bf16PagesHoldPairsOfRowsAndZerosInThePadding) {
  const PageShape shape = {.type = KvType::kBf16, .tokens = 16, .head_dim = 6, .key_rows = 32,
                           .value_stride = 32};
  std::vector<uint16_t> keys, values;
  Fill(shape, keys, values);
  for (int t = 0; t < 16; ++t) {
    for (int d = 0; d < 32; ++d) {
      const float expected = d < 6 ? static_cast<float>(100 * t + d) : 0.0F;
      EXPECT_EQ(keys[static_cast<size_t>((d / 2 * 16 + t) * 2 + d % 2)], ToBf16(expected));
      EXPECT_EQ(values[static_cast<size_t>((t / 2 * 32 + d) * 2 + t % 2)], ToBf16(-expected));
    }
  }
}

}  // namespace
}  // namespace platen
