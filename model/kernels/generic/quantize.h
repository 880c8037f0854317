// Quantisation of a row to int8 over F32x16.
#pragma once

#include <cstdint>

#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/unroll.h"

namespace platen::PLATEN_ISA {

// The largest magnitude of n values; infinity or NaN where one of them is not finite.
PLATEN_INLINE float LargestOf(const float* x, int n) {
  F32x16 max[4];  // the order does not matter, so several run side by side
  Unroll<4>([&](auto j) __attribute__((always_inline)) { max[j] = Set1(0.0F); });
  int i = 0;
  for (; i + 64 <= n; i += 64) {
    Unroll<4>([&](auto j) __attribute__((always_inline)) {
      __builtin_prefetch(x + i + j * 16 + kRowPrefetchFloats);
      max[j] = MaxMagnitude(max[j], Load(x + i + j * 16));
    });
  }
  for (; i < n; i += 16) max[0] = MaxMagnitude(max[0], LoadFirst(x + i, n - i));
  return LargestMagnitude(MaxMagnitude(MaxMagnitude(max[0], max[1]), MaxMagnitude(max[2], max[3])));
}

// q = round(x * inverse); returns the sum of q.
PLATEN_INLINE int32_t QuantizeGroup(const float* x, int n, F32x16 inverse, int8_t* q) {
  int i = 0;
  for (; i + 64 <= n; i += 64) {
    F32x16 scaled[4];
    Unroll<4>([&](auto j) __attribute__((always_inline)) {
      scaled[j] = Mul(Load(x + i + j * 16), inverse);
    });
    StoreInt8(scaled, q + i);
  }
  int32_t sum = SumInt8(q, i);
  for (; i < n; i += 16) StoreInt8First(Mul(LoadFirst(x + i, n - i), inverse), q + i, n - i);
  for (int j = n / 64 * 64; j < n; ++j) sum += q[j];
  return sum;
}

inline void QuantizeRow(const float* x, int k, int k_padded, int group_size, int8_t* q,
                        float* scales, int32_t* corrections) {
  constexpr float kLargest = 3.4028234e38F;
  constexpr float kLeast = 1e-30F;  // below, all are 0, and the inverse stays finite
  for (int g = 0, begin = 0; begin < k_padded; ++g, begin += group_size) {
    const int n = k - begin < group_size ? k - begin : group_size;
    const float absmax = LargestOf(x + begin, n);
    if (absmax <= kLargest) {
      const float inverse = absmax > kLeast ? 127.0F / absmax : 0.0F;
      scales[g] = absmax / 127.0F;
      corrections[g] = -128 * QuantizeGroup(x + begin, n, Set1(inverse), q + begin);
    } else {
      scales[g] = absmax * 0.0F;  // NaN
      corrections[g] = 0;
      for (int i = 0; i < n; ++i) q[begin + i] = 0;
    }
  }
  for (int i = k; i < k_padded; ++i) q[i] = 0;
}

}  // namespace platen::PLATEN_ISA
