// Attention on pairs of bf16 values with the instruction for it (AVX512_BF16). The meaning, and the
// other tables' form, is generic/attention_bf16_dot.h.
#include <immintrin.h>

#include "model/kernels/generic/attention_bf16_dot.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/kernels.h"
#include "model/kernels/tables.h"

namespace platen {
namespace PLATEN_ISA {
namespace {

struct NativePairs {
  // In assembly for the same reason as AddProduct.
  PLATEN_INLINE static void AddProducts(F32x16 a, F32x16 b, F32x16& sum) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum.v) : "v"(b.v), "v"(a.v));
  }
  // The instruction rounds as StoreBf16 does, but for small values; a NaN stays one in both.
  PLATEN_INLINE static void StoreRounded(F32x16 x, void* p) {
    const __mmask16 large =
        _mm512_cmp_ps_mask(_mm512_abs_ps(x.v), _mm512_set1_ps(kLeastBf16), _CMP_NLT_UQ);
    const __m256bh halves = _mm512_maskz_cvtneps_pbh(large, x.v);
    __builtin_memcpy(p, &halves, sizeof(halves));
  }
};

}  // namespace
}  // namespace PLATEN_ISA

void AttentionBf16DotAvx512(const AttentionJob& job) {
  PLATEN_ISA::AttentionBf16Dot<PLATEN_ISA::NativePairs>(job);
}

}  // namespace platen
