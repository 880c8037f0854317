// RMSNorm and LayerNorm over F32x16.
#pragma once

#include "model/kernels/generic/lanes.h"

namespace platen::PLATEN_ISA {

// Sum of (x - shift)^2; lane j adds elements j, j + 16, ...
PLATEN_INLINE float SumOfSquares(const float* x, int n, float shift) {
  F32x16 sum = Set1(0.0F);
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    __builtin_prefetch(x + i + kRowPrefetchFloats);
    const F32x16 d = Sub(Load(x + i), Set1(shift));
    sum = Fma(d, d, sum);
  }
  for (; i < n; i += 16) {
    const F32x16 d = KeepFirst(Sub(LoadFirst(x + i, n - i), Set1(shift)), n - i, 0.0F);
    sum = Fma(d, d, sum);
  }
  return ReduceAdd(sum);
}

inline void RmsNorm(const float* x, const float* weight, float eps, int n, float* y) {
  const float mean_square = SumOfSquares(x, n, 0.0F) / static_cast<float>(n);
  const F32x16 inverse = Set1(1.0F / __builtin_sqrtf(mean_square + eps));
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    Store(Mul(Mul(Load(x + i), inverse), Load(weight + i)), y + i);
  }
  for (; i < n; i += 16) {
    const F32x16 normalised = Mul(LoadFirst(x + i, n - i), inverse);
    StoreFirst(Mul(normalised, LoadFirst(weight + i, n - i)), y + i, n - i);
  }
}

inline void LayerNorm(const float* x, const float* weight, const float* bias, float eps, int n,
                      float* y) {
  F32x16 sum = Set1(0.0F);
  for (int i = 0; i < n; i += 16) sum = Add(sum, LoadFirst(x + i, n - i));
  const float mean = ReduceAdd(sum) / static_cast<float>(n);
  const float variance = SumOfSquares(x, n, mean) / static_cast<float>(n);
  const F32x16 inverse = Set1(1.0F / __builtin_sqrtf(variance + eps));
  for (int i = 0; i < n; i += 16) {
    const F32x16 normalised = Mul(Sub(LoadFirst(x + i, n - i), Set1(mean)), inverse);
    StoreFirst(Fma(normalised, LoadFirst(weight + i, n - i), LoadFirst(bias + i, n - i)), y + i,
               n - i);
  }
}

}  // namespace platen::PLATEN_ISA
