// Attention with both products on pairs of bf16 values, summed as the instruction vdpbf16ps does.
//
// As f32 attention, but queries (scaled in f32) and probabilities (after they were summed in f32)
// are rounded, and of two neighbouring k the second is added first:
//   sum = fma(a0, b0, fma(a1, b1, sum)).
// The instruction takes denormals as 0; generic/attention_bf16.h says why none can appear.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/attention.h"
#include "model/kernels/generic/attention_products.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

// Arithmetic on 16 pairs of bf16 values, one pair in every lane, by two multiply-adds.
struct WidenedPairs {
  // sum += a * b, the second value of each pair first.
  PLATEN_INLINE static void AddProducts(F32x16 a, F32x16 b, F32x16& sum) {
    sum = Fma(SecondOfPairs(a), SecondOfPairs(b), sum);
    sum = Fma(FirstOfPairs(a), FirstOfPairs(b), sum);
  }
  // Writes 16 values, rounded by the rule of model/support/bf16.h.
  PLATEN_INLINE static void StoreRounded(F32x16 x, void* p) {
    uint16_t halves[16];
    StoreBf16(x, halves);
    __builtin_memcpy(p, halves, sizeof(halves));
  }
};

// Keys or values in pairs. Pairs is WidenedPairs, or an instruction that computes the same.
template <class Pairs>
struct Bf16DotPage {
  using Value = uint16_t;
  static constexpr int kDepth = 2;
  static constexpr int kTerms = 1;
  template <int kTerm>
  PLATEN_INLINE static F32x16 Load16(const uint16_t* p) {
    return LoadPairs(p);
  }
  PLATEN_INLINE static F32x16 Left(const float* a) {
    float pair;  // two bf16 values in the bits of a float
    __builtin_memcpy(&pair, a, sizeof(pair));
    return Set1(pair);
  }
  PLATEN_INLINE static void Multiply(F32x16 a, F32x16 b, F32x16& sum) {
    Pairs::AddProducts(a, b, sum);
  }
};

// Queries and probabilities are stored in pairs, two bf16 values in each float.
template <class Pairs>
struct Bf16DotProducts : F32Products<Bf16DotPage<Pairs>> {
  PLATEN_INLINE static int Depth(const AttentionJob& job) { return job.v_stride / 2; }
  static constexpr int kValuesPerFloat = 2;
  PLATEN_INLINE static void PutQuery(F32x16 x, int i, int, float* q) {
    Pairs::StoreRounded(x, q + i / 2);
  }
  // Overwrites scores that were read already: 16 pairs take half their memory.
  PLATEN_INLINE static void PutProbabilities(F32x16 x, int i, float* p) {
    Pairs::StoreRounded(x, p + i / 2);
  }
};

template <class Pairs>
void AttentionBf16Dot(const AttentionJob& job) {
  AttendTiles<Bf16DotProducts<Pairs>>(job);
}

}  // namespace platen::PLATEN_ISA
