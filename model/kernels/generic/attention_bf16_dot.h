// Attention with both products on pairs of bf16 values, as the instruction vdpbf16ps has it. After
// attention.inc, AddPairs and PutBf16.
//
// As f32 attention, but queries (scaled in f32) and probabilities (after they were summed in f32)
// are rounded, and of two neighbouring k the second is added first: sum = fma(a0, b0, fma(a1, b1,
// sum)). The instruction takes denormals as 0; why none can appear is said in attention_bf16.inc.
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

// Pages of pairs. Pairs: WidenedPairs or its equal in the instruction set.
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
    float pair;  // its bytes; it is no number
    __builtin_memcpy(&pair, a, sizeof(pair));
    return Set1(pair);
  }
  PLATEN_INLINE static void Multiply(F32x16 a, F32x16 b, F32x16& sum) {
    Pairs::AddProducts(a, b, sum);
  }
};

// A float of a query, or of the probabilities, holds a pair.
template <class Pairs>
struct Bf16DotProducts : F32Products<Bf16DotPage<Pairs>> {
  PLATEN_INLINE static int Depth(const AttentionJob& job) { return job.v_stride / 2; }
  static constexpr int kValuesPerFloat = 2;
  PLATEN_INLINE static void PutQuery(F32x16 x, int i, int, float* q) {
    Pairs::StoreRounded(x, q + i / 2);
  }
  // Over the scores, which are longer and were read before.
  PLATEN_INLINE static void PutProbabilities(F32x16 x, int i, float* p) {
    Pairs::StoreRounded(x, p + i / 2);
  }
};

template <class Pairs>
void AttentionBf16Dot(const AttentionJob& job) {
  AttendTiles<Bf16DotProducts<Pairs>>(job);
}

}  // namespace platen::PLATEN_ISA
