#include "model/ops/attention_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "model/support/bf16.h"

namespace platen {
namespace {

TEST(Bf16, RoundsToNearestTiesToEven) {
  EXPECT_EQ(ToBf16(1.0F), 0x3F80);
  EXPECT_EQ(ToBf16(-2.5F), 0xC020);
  EXPECT_EQ(ToBf16(0x1.01p0F), 0x3F80);      // half way, down to even
  EXPECT_EQ(ToBf16(0x1.03p0F), 0x3F82);      // half way, up to even
  EXPECT_EQ(ToBf16(0x1.010002p0F), 0x3F81);  // just above half way
  EXPECT_EQ(ToBf16(0x1.00FFFEp0F), 0x3F80);  // just below
  EXPECT_EQ(ToBf16(0x1.FFFFFEp0F), 0x4000);  // carries into the exponent
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

// Writes token t as key 100 t + d and value -(100 t + d), pieces of `at_once` tokens, the odd ones
// last. Rows lie kStride floats apart.
template <class T>
void Fill(const PageShape& shape, int at_once, std::vector<T>& keys, std::vector<T>& values) {
  constexpr int kStride = 50;
  keys.assign(static_cast<size_t>(shape.key_bytes()) / sizeof(T), T{99});
  values.assign(static_cast<size_t>(shape.value_bytes()) / sizeof(T), T{99});
  std::vector<float> k(static_cast<size_t>(shape.tokens) * kStride, 1e9F), v = k;
  for (int t = 0; t < shape.tokens; ++t) {
    for (int d = 0; d < shape.key_width; ++d) {
      k[static_cast<size_t>(t * kStride + d)] = static_cast<float>(100 * t + d);
      v[static_cast<size_t>(t * kStride + d)] = static_cast<float>(-(100 * t + d));
    }
  }
  for (const int parity : {0, 1}) {
    for (int t = parity * at_once; t < shape.tokens; t += 2 * at_once) {
      const int count = std::min(at_once, shape.tokens - t);
      WriteKeys(BestKernels(), shape, t, {k.data() + t * kStride, kStride, count}, keys.data());
      WriteValues(BestKernels(), shape, t, {v.data() + t * kStride, kStride, count}, values.data());
    }
  }
}

TEST(AttentionPages, F32PagesAreKeysByDimensionAndValuesByToken) {
  const PageShape shape = {.type = KvType::kF32,
                           .tokens = 48,
                           .key_width = 6,
                           .value_width = 6,
                           .key_rows = 8,
                           .value_stride = 16};
  std::vector<float> keys, values;
  for (const int at_once : {1, 3, 16, 17, 32, 48}) {
    Fill(shape, at_once, keys, values);
    for (int t = 0; t < 48; ++t) {
      for (int d = 0; d < 16; ++d) {
        if (d < 8) {
          EXPECT_EQ(keys[static_cast<size_t>(d * 48 + t)], d < 6 ? 100 * t + d : 0) << at_once;
        }
        EXPECT_EQ(values[static_cast<size_t>(t * 16 + d)], d < 6 ? -(100 * t + d) : 0) << at_once;
      }
    }
  }
}

TEST(AttentionPages, Bf16PagesHoldPairsOfRowsAndZerosInThePadding) {
  const PageShape shape = {.type = KvType::kBf16,
                           .tokens = 48,
                           .key_width = 6,
                           .value_width = 6,
                           .key_rows = 32,
                           .value_stride = 32};
  std::vector<uint16_t> keys, values;
  for (const int at_once : {1, 3, 16, 17, 32, 48}) {
    Fill(shape, at_once, keys, values);
    for (int t = 0; t < 48; ++t) {
      for (int d = 0; d < 32; ++d) {
        const float expected = d < 6 ? static_cast<float>(100 * t + d) : 0.0F;
        EXPECT_EQ(keys[static_cast<size_t>((d / 2 * 48 + t) * 2 + d % 2)], ToBf16(expected));
        EXPECT_EQ(values[static_cast<size_t>((t / 2 * 32 + d) * 2 + t % 2)], ToBf16(-expected));
      }
    }
  }
}

}  // namespace
}  // namespace platen
