// The token with the largest logit and its probability, over F32x16.
#pragma once

#include "model/kernels/generic/activations.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/softmax.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

constexpr int kSelectBlock = 1024;

// The largest logit, and the first block of kSelectBlock that holds it.
struct LargestLogit {
  float value;
  int block;
  bool has_nan;  // among all logits
};

PLATEN_INLINE LargestLogit FindLargest(const float* logits, int n) {
  LargestLogit largest = {kLowest, 0, false};
  F32x16 magnitude = Set1(0.0F);
  for (int begin = 0; begin < n; begin += kSelectBlock) {
    const int end = n - begin < kSelectBlock ? n : begin + kSelectBlock;
    F32x16 best = Set1(kLowest);
    for (int i = begin; i < end; i += 16) {
      const F32x16 v = LoadFirst(logits + i, end - i);
      best = Max(best, KeepFirst(v, end - i, kLowest));
      magnitude = MaxMagnitude(magnitude, v);
    }
    const float value = ReduceMax(best);
    if (value > largest.value) largest = {value, begin, false};
  }
  const float most = LargestMagnitude(magnitude);
  largest.has_nan = most != most;
  return largest;
}

inline Selection Select(const float* logits, int n) {
  const LargestLogit largest = FindLargest(logits, n);
  int index = largest.block;
  while (index < n && logits[index] != largest.value) ++index;
  if (largest.has_nan || index == n) return {-1, 0.0F};
  const F32x16 max = Set1(largest.value);
  F32x16 sum = Set1(0.0F);
  for (int i = 0; i < n; i += 16) {
    sum = Add(sum, KeepFirst(Exp(Sub(LoadFirst(logits + i, n - i), max)), n - i, 0.0F));
  }
  return {index, 1.0F / ReduceAdd(sum)};
}

}  // namespace platen::PLATEN_ISA
