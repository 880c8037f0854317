// 16 float lanes in one AVX-512 register; lane for lane equal to generic/lanes_scalar.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/isa.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

struct F32x16 {
  __m512 v;
};

PLATEN_INLINE __mmask16 FirstLanes(int n) {
  return static_cast<__mmask16>(n >= 16 ? 0xFFFF : (1U << (n < 0 ? 0 : n)) - 1U);
}
PLATEN_INLINE F32x16 Set1(float x) { return {_mm512_set1_ps(x)}; }
PLATEN_INLINE F32x16 Load(const float* p) { return {_mm512_loadu_ps(p)}; }
PLATEN_INLINE F32x16 LoadFirst(const float* p, int n) {
  if (n >= 16) return Load(p);
  return {_mm512_maskz_loadu_ps(FirstLanes(n), p)};
}
PLATEN_INLINE F32x16 LoadPairs(const void* p) {
  return {_mm512_castsi512_ps(_mm512_loadu_si512(p))};
}
PLATEN_INLINE F32x16 FirstOfPairs(F32x16 pairs) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(pairs.v), 16))};
}
PLATEN_INLINE F32x16 SecondOfPairs(F32x16 pairs) {
  const __m512i upper = _mm512_set1_epi32(-65536);
  return {_mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(pairs.v), upper))};
}
PLATEN_INLINE void Store(F32x16 a, float* p) { _mm512_storeu_ps(p, a.v); }
// Whole vectors without a mask: a load cannot be forwarded from a masked store, and on Zen 4 masked
// stores are slow.
PLATEN_INLINE void StoreFirst(F32x16 a, float* p, int n) {
  if (n >= 16) return Store(a, p);
  _mm512_mask_storeu_ps(p, FirstLanes(n), a.v);
}
PLATEN_INLINE F32x16 KeepFirst(F32x16 a, int n, float other) {
  return {_mm512_mask_blend_ps(FirstLanes(n), _mm512_set1_ps(other), a.v)};
}
PLATEN_INLINE F32x16 Add(F32x16 a, F32x16 b) { return {_mm512_add_ps(a.v, b.v)}; }
PLATEN_INLINE F32x16 Sub(F32x16 a, F32x16 b) { return {_mm512_sub_ps(a.v, b.v)}; }
PLATEN_INLINE F32x16 Mul(F32x16 a, F32x16 b) { return {_mm512_mul_ps(a.v, b.v)}; }
PLATEN_INLINE F32x16 Div(F32x16 a, F32x16 b) { return {_mm512_div_ps(a.v, b.v)}; }
PLATEN_INLINE F32x16 Fma(F32x16 a, F32x16 b, F32x16 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
// sum = a * b + sum. In assembly, because GCC 12 adds to the register of a or b instead, moves the
// sums from register to register and spills some.
PLATEN_INLINE void AddProduct(F32x16 a, F32x16 b, F32x16& sum) {
  asm("vfmadd231ps %2, %1, %0" : "+v"(sum.v) : "v"(a.v), "v"(b.v));
}
PLATEN_INLINE F32x16 Max(F32x16 a, F32x16 b) { return {_mm512_max_ps(a.v, b.v)}; }
PLATEN_INLINE F32x16 Min(F32x16 a, F32x16 b) { return {_mm512_min_ps(a.v, b.v)}; }
PLATEN_INLINE F32x16 Round(F32x16 a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
PLATEN_INLINE F32x16 Pow2(F32x16 a) {
  const __m512i n = _mm512_add_epi32(_mm512_cvttps_epi32(a.v), _mm512_set1_epi32(127));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(n, 23))};
}
PLATEN_INLINE F32x16 AddToExponent(F32x16 a, F32x16 shifted) {
  const __m512i n = _mm512_slli_epi32(_mm512_castps_si512(shifted.v), 23);
  return {_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a.v), n))};
}
PLATEN_INLINE F32x16 GuessReciprocal(F32x16 a) {
  const __m512i mirror = _mm512_set1_epi32(0x7EF127EA);
  return {_mm512_castsi512_ps(_mm512_sub_epi32(mirror, _mm512_castps_si512(a.v)))};
}
// Rounds to nearest even at bit 16; the lower half of the result is to be cleared.
PLATEN_INLINE __m512i RoundUpperHalf(__m512i bits) {
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  return _mm512_add_epi32(_mm512_add_epi32(bits, odd), _mm512_set1_epi32(0x7FFF));
}
PLATEN_INLINE void StoreBf16(F32x16 a, uint16_t* p) {
  const __m512i bits = _mm512_castps_si512(a.v);
  const __mmask16 nan = _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q);
  const __m512i kept =
      _mm512_mask_or_epi32(RoundUpperHalf(bits), nan, bits, _mm512_set1_epi32(0x00400000));
  const __mmask16 large =
      _mm512_cmp_ps_mask(_mm512_abs_ps(a.v), _mm512_set1_ps(kLeastBf16), _CMP_NLT_UQ);
  const __m256i halves = _mm512_cvtepi32_epi16(_mm512_maskz_srli_epi32(large, kept, 16));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), halves);
}
PLATEN_INLINE F32x16 SwapPairs(F32x16 a) { return {_mm512_permute_ps(a.v, 0xB1)}; }

PLATEN_INLINE __m256 UpperHalf(__m512 a) {
  return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
}
PLATEN_INLINE float ReduceAdd(F32x16 a) {
  const __m256 r8 = _mm256_add_ps(_mm512_castps512_ps256(a.v), UpperHalf(a.v));
  const __m128 r4 = _mm_add_ps(_mm256_castps256_ps128(r8), _mm256_extractf128_ps(r8, 1));
  const __m128 r2 = _mm_add_ps(r4, _mm_movehl_ps(r4, r4));
  return _mm_cvtss_f32(_mm_add_ss(r2, _mm_movehdup_ps(r2)));
}
// Columns of four rows of words: words 4 q + i of each, for quarter q of columns[i].
PLATEN_INLINE void FourColumns(__m512 a, __m512 b, __m512 c, __m512 d, __m512 (&columns)[4]) {
  const __m512d ab = _mm512_castps_pd(_mm512_unpacklo_ps(a, b));
  const __m512d cd = _mm512_castps_pd(_mm512_unpacklo_ps(c, d));
  const __m512d ab_high = _mm512_castps_pd(_mm512_unpackhi_ps(a, b));
  const __m512d cd_high = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
  columns[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd));
  columns[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd));
  columns[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab_high, cd_high));
  columns[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab_high, cd_high));
}
PLATEN_INLINE void StoreTransposed(const std::byte* from, ptrdiff_t stride, float* to,
                                   ptrdiff_t to_stride) {
  __m512 fours[4][4];  // of rows, of columns
  Unroll<4>([&](auto i) __attribute__((always_inline)) {
    const auto row = [&](int r) __attribute__((always_inline)) {
      return LoadPairs(from + (4 * i + r) * stride).v;
    };
    FourColumns(row(0), row(1), row(2), row(3), fours[i]);
  });
  Unroll<4>([&](auto i) __attribute__((always_inline)) {
    const __m512 even01 = _mm512_shuffle_f32x4(fours[0][i], fours[1][i], 0x88);
    const __m512 even23 = _mm512_shuffle_f32x4(fours[2][i], fours[3][i], 0x88);
    const __m512 odd01 = _mm512_shuffle_f32x4(fours[0][i], fours[1][i], 0xDD);
    const __m512 odd23 = _mm512_shuffle_f32x4(fours[2][i], fours[3][i], 0xDD);
    float* out = to + i * to_stride;
    _mm512_storeu_ps(out, _mm512_shuffle_f32x4(even01, even23, 0x88));
    _mm512_storeu_ps(out + 4 * to_stride, _mm512_shuffle_f32x4(odd01, odd23, 0x88));
    _mm512_storeu_ps(out + 8 * to_stride, _mm512_shuffle_f32x4(even01, even23, 0xDD));
    _mm512_storeu_ps(out + 12 * to_stride, _mm512_shuffle_f32x4(odd01, odd23, 0xDD));
  });
}
PLATEN_INLINE void StorePairs(F32x16 first, F32x16 second, float* p) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
  _mm512_storeu_ps(p, _mm512_permutex2var_ps(first.v, low, second.v));
  _mm512_storeu_ps(p + 16, _mm512_permutex2var_ps(first.v, high, second.v));
}
PLATEN_INLINE float ReduceMax(F32x16 a) {
  const __m256 r8 = _mm256_max_ps(_mm512_castps512_ps256(a.v), UpperHalf(a.v));
  const __m128 r4 = _mm_max_ps(_mm256_castps256_ps128(r8), _mm256_extractf128_ps(r8, 1));
  const __m128 r2 = _mm_max_ps(r4, _mm_movehl_ps(r4, r4));
  return _mm_cvtss_f32(_mm_max_ss(r2, _mm_movehdup_ps(r2)));
}

// Register tile of the float products (generic/gemm_f32.h).
constexpr int kTileRows = 6;  // 6 x 4 = 24 accumulators of 32 registers
constexpr int kTileVectors = 4;

// ------------------------------------------------------------------------------------- int8

PLATEN_INLINE F32x16 ConvertInt32(const int32_t* p) {
  return {_mm512_cvtepi32_ps(_mm512_loadu_si512(p))};
}
PLATEN_INLINE F32x16 MaxMagnitude(F32x16 max, F32x16 a) {
  const __m512i bits = _mm512_and_si512(_mm512_castps_si512(a.v), _mm512_set1_epi32(0x7FFFFFFF));
  return {_mm512_castsi512_ps(_mm512_max_epu32(_mm512_castps_si512(max.v), bits))};
}
PLATEN_INLINE float LargestMagnitude(F32x16 a) {
  const __m512i largest =
      _mm512_set1_epi32(static_cast<int>(_mm512_reduce_max_epu32(_mm512_castps_si512(a.v))));
  return _mm512_cvtss_f32(_mm512_castsi512_ps(largest));
}
PLATEN_INLINE void StoreInt8(const F32x16 (&a)[4], int8_t* p) {
  const __m512i low = _mm512_packs_epi32(_mm512_cvtps_epi32(a[0].v), _mm512_cvtps_epi32(a[1].v));
  const __m512i high = _mm512_packs_epi32(_mm512_cvtps_epi32(a[2].v), _mm512_cvtps_epi32(a[3].v));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  _mm512_storeu_si512(p, _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, high)));
}
PLATEN_INLINE void StoreInt8First(F32x16 a, int8_t* p, int n) {
  _mm512_mask_cvtepi32_storeu_epi8(p, FirstLanes(n), _mm512_cvtps_epi32(a.v));
}
PLATEN_INLINE int32_t SumInt8(const int8_t* p, int n) {
  const __m512i zero = _mm512_setzero_si512();
  __m512i sum = zero;
  for (int i = 0; i < n; i += 64) {
    const __m512i shifted = _mm512_xor_si512(_mm512_loadu_si512(p + i), _mm512_set1_epi8(-128));
    sum = _mm512_add_epi64(sum, _mm512_sad_epu8(shifted, zero));
  }
  return static_cast<int32_t>(_mm512_reduce_add_epi64(sum)) - 128 * n;
}

// 32 integers of 16 bits: four k of eight columns. For CPUs without VNNI.
using WideInt = __m512i;
constexpr int kWideIntColumns = 8;
constexpr int kMaddRows = 12;  // 24 accumulators of 32 registers

PLATEN_INLINE WideInt WidenWeights(const uint8_t* p) {
  return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
PLATEN_INLINE WideInt WidenSigned(const int8_t* p) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
PLATEN_INLINE WideInt BroadcastFour(int64_t four) { return _mm512_set1_epi64(four); }
// acc += sums of pairs of w * a. In assembly, as on AVX2.
PLATEN_INLINE void DotPairs(WideInt& acc, WideInt w, WideInt a) {
  WideInt products;
  asm volatile("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
               : "+v"(acc), "=&v"(products)
               : "v"(w), "v"(a));
}
// Adds the sums of 2 x kWideIntColumns columns to `out`, which is aligned.
PLATEN_INLINE void AddColumns(WideInt first, WideInt second, int32_t* out) {
  const auto columns = [](WideInt pairs) {
    return _mm512_cvtepi64_epi32(_mm512_add_epi32(pairs, _mm512_srli_epi64(pairs, 32)));
  };
  const __m512i sums =
      _mm512_inserti64x4(_mm512_castsi256_si512(columns(first)), columns(second), 1);
  _mm512_store_si512(out, _mm512_add_epi32(_mm512_load_si512(out), sums));
}

// --------------------------------------------------------------------------- exact attention

// -1 in the lanes with that bit.
template <int kBit>
PLATEN_INLINE __m512 MinusWhere() {
  constexpr auto kLanesWith = static_cast<__mmask16>(kBit == 1   ? 0xAAAA
                                                     : kBit == 2 ? 0xCCCC
                                                     : kBit == 4 ? 0xF0F0
                                                                 : 0xFF00);
  return _mm512_mask_blend_ps(kLanesWith, _mm512_set1_ps(1.0F), _mm512_set1_ps(-1.0F));
}
template <int kDistance>
PLATEN_INLINE F32x16 Butterfly(F32x16 a) {
  __m512 other;
  if constexpr (kDistance == 1) other = _mm512_permute_ps(a.v, 0xB1);
  if constexpr (kDistance == 2) other = _mm512_permute_ps(a.v, 0x4E);
  if constexpr (kDistance == 4) other = _mm512_shuffle_f32x4(a.v, a.v, 0xB1);
  if constexpr (kDistance == 8) other = _mm512_shuffle_f32x4(a.v, a.v, 0x4E);
  return {_mm512_fmadd_ps(a.v, MinusWhere<kDistance>(), other)};  // that product is exact
}
PLATEN_INLINE void StoreInt8Columns(const F32x16 (&a)[4], int8_t* p) {
  const auto byte = [](F32x16 x) {
    return _mm512_and_si512(_mm512_cvtps_epi32(x.v), _mm512_set1_epi32(255));
  };
  const __m512i low = _mm512_or_si512(byte(a[0]), _mm512_slli_epi32(byte(a[1]), 8));
  const __m512i high =
      _mm512_or_si512(_mm512_slli_epi32(byte(a[2]), 16), _mm512_slli_epi32(byte(a[3]), 24));
  _mm512_storeu_si512(p, _mm512_or_si512(low, high));
}
PLATEN_INLINE F32x16 Fraction(F32x16 x) { return Sub(x, Round(x)); }
PLATEN_INLINE F32x16 ScaleDown(F32x16 p, F32x16 x) { return {_mm512_scalef_ps(p.v, Round(x).v)}; }

using ExactSums = __m512i;
PLATEN_INLINE ExactSums NoSums() { return _mm512_setzero_si512(); }
PLATEN_INLINE int32_t Total(ExactSums sums) { return _mm512_reduce_add_epi32(sums); }
// Words (e + 64) >> 7 of 32 values e; their order is that of _mm512_packs_epi32.
PLATEN_INLINE __m512i ProbabilityWords(__m512 a, __m512 b, ExactSums& sums) {
  const __m512i e = _mm512_packs_epi32(_mm512_cvtps_epi32(a), _mm512_cvtps_epi32(b));
  const __m512i one = _mm512_set1_epi16(1);
#if defined(__AVX512VNNI__)
  sums = _mm512_dpwssd_epi32(sums, e, one);
#else
  sums = _mm512_add_epi32(sums, _mm512_madd_epi16(e, one));
#endif
  return _mm512_mulhrs_epi16(e, _mm512_set1_epi16(256));
}
PLATEN_INLINE void StoreProbabilities(const F32x16 (&a)[4], ExactSums& sums, uint8_t* p) {
  const __m512i low = ProbabilityWords(a[0].v, a[1].v, sums);
  const __m512i high = ProbabilityWords(a[2].v, a[3].v, sums);
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  _mm512_storeu_si512(p, _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high)));
}

}  // namespace platen::PLATEN_ISA
