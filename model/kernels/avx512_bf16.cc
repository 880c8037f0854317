// Attention on pairs of bf16 values with the instruction for it (AVX512_BF16). The meaning, and the
// other tables' form, is attention_bf16_dot.inc.
#include <immintrin.h>

#include <cstdint>
#include <utility>

#include "model/kernels/kernels.h"

namespace platen {
namespace {

#include "model/kernels/lanes_avx512.inc"
//
#include "model/kernels/unroll.inc"
//
#include "model/kernels/finish_row.inc"
//
#include "model/kernels/softmax.inc"
//
#include "model/kernels/row_blocks.inc"
//
#include "model/kernels/attention_products.inc"
//
#include "model/kernels/attention.inc"

// In assembly for the same reason as AddProduct.
PLATEN_INLINE void AddPairs(F32x16 a, F32x16 b, F32x16& sum) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum.v) : "v"(b.v), "v"(a.v));
}
// The instruction rounds as StoreBf16 does, but for small values; a NaN stays one in both.
PLATEN_INLINE void PutBf16(F32x16 x, void* p) {
  const __mmask16 large =
      _mm512_cmp_ps_mask(_mm512_abs_ps(x.v), _mm512_set1_ps(kLeastBf16), _CMP_NLT_UQ);
  const __m256bh halves = _mm512_maskz_cvtneps_pbh(large, x.v);
  __builtin_memcpy(p, &halves, sizeof(halves));
}

#include "model/kernels/attention_bf16_dot.inc"

}  // namespace

KernelTable WithAvx512Bf16(KernelTable table) {
  if (__builtin_cpu_supports("avx512bf16")) table.attention_bf16_dot = AttentionBf16Dot;
  return table;
}

}  // namespace platen
