// Pieces of the online softmax over F32x16, to base 2.
#pragma once

#include "model/kernels/generic/activations.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/unroll.h"

namespace platen::PLATEN_ISA {

constexpr float kLowest = -3.0e38F;  // below every finite score and logit

// 2^x for x <= 0, clamped to -125.
PLATEN_INLINE F32x16 Exp2(F32x16 x) {
  return Exp2InRange(Max(Set1(-125.0F), x));  // Max gives its second operand if one is NaN
}

// Largest of n >= 1 scores.
PLATEN_INLINE float LargestScore(const float* s, int n) {
  F32x16 best[4];
  Unroll<4>([&](auto v) __attribute__((always_inline)) { best[v] = Set1(kLowest); });
  int i = 0;
  for (; i + 64 <= n; i += 64) {
    Unroll<4>([&](auto v)
                  __attribute__((always_inline)) { best[v] = Max(best[v], Load(s + i + v * 16)); });
  }
  for (; i < n; i += 16) best[0] = Max(best[0], KeepFirst(Load(s + i), n - i, kLowest));
  return ReduceMax(Max(Max(best[0], best[1]), Max(best[2], best[3])));
}

}  // namespace platen::PLATEN_ISA
