// 16 float lanes in two AVX2 registers; lane for lane equal to generic/lanes_scalar.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/isa.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

struct F32x16 {
  __m256 lo, hi;
};

PLATEN_INLINE F32x16 Set1(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
PLATEN_INLINE F32x16 Load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
// Mask of the lanes below n of the eight lanes that start at `first`.
PLATEN_INLINE __m256i FirstLanes(int n, int first) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n - first), lane);
}
PLATEN_INLINE F32x16 LoadFirst(const float* p, int n) {
  return {_mm256_maskload_ps(p, FirstLanes(n, 0)), _mm256_maskload_ps(p + 8, FirstLanes(n, 8))};
}
PLATEN_INLINE F32x16 LoadPairs(const void* p) {
  const auto* pairs = static_cast<const __m256i*>(p);
  return {_mm256_castsi256_ps(_mm256_loadu_si256(pairs)),
          _mm256_castsi256_ps(_mm256_loadu_si256(pairs + 1))};
}
PLATEN_INLINE F32x16 FirstOfPairs(F32x16 pairs) {
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(pairs.lo), 16)),
          _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(pairs.hi), 16))};
}
PLATEN_INLINE F32x16 SecondOfPairs(F32x16 pairs) {
  const __m256 upper = _mm256_castsi256_ps(_mm256_set1_epi32(-65536));
  return {_mm256_and_ps(pairs.lo, upper), _mm256_and_ps(pairs.hi, upper)};
}
PLATEN_INLINE void Store(F32x16 a, float* p) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}
PLATEN_INLINE void StoreFirst(F32x16 a, float* p, int n) {
  _mm256_maskstore_ps(p, FirstLanes(n, 0), a.lo);
  _mm256_maskstore_ps(p + 8, FirstLanes(n, 8), a.hi);
}
PLATEN_INLINE F32x16 KeepFirst(F32x16 a, int n, float other) {
  const __m256 o = _mm256_set1_ps(other);
  return {_mm256_blendv_ps(o, a.lo, _mm256_castsi256_ps(FirstLanes(n, 0))),
          _mm256_blendv_ps(o, a.hi, _mm256_castsi256_ps(FirstLanes(n, 8)))};
}
PLATEN_INLINE F32x16 Add(F32x16 a, F32x16 b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
PLATEN_INLINE F32x16 Sub(F32x16 a, F32x16 b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}
PLATEN_INLINE F32x16 Mul(F32x16 a, F32x16 b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
PLATEN_INLINE F32x16 Div(F32x16 a, F32x16 b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}
PLATEN_INLINE F32x16 Fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
// sum = a * b + sum. In assembly, as on AVX-512.
PLATEN_INLINE void AddProduct(F32x16 a, F32x16 b, F32x16& sum) {
  asm("vfmadd231ps %2, %1, %0" : "+x"(sum.lo) : "x"(a.lo), "x"(b.lo));
  asm("vfmadd231ps %2, %1, %0" : "+x"(sum.hi) : "x"(a.hi), "x"(b.hi));
}
PLATEN_INLINE F32x16 Max(F32x16 a, F32x16 b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}
PLATEN_INLINE F32x16 Min(F32x16 a, F32x16 b) {
  return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}
PLATEN_INLINE F32x16 Round(F32x16 a) {
  constexpr int kMode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return {_mm256_round_ps(a.lo, kMode), _mm256_round_ps(a.hi, kMode)};
}
PLATEN_INLINE __m256 Pow2Half(__m256 a) {
  const __m256i n = _mm256_add_epi32(_mm256_cvttps_epi32(a), _mm256_set1_epi32(127));
  return _mm256_castsi256_ps(_mm256_slli_epi32(n, 23));
}
PLATEN_INLINE F32x16 Pow2(F32x16 a) { return {Pow2Half(a.lo), Pow2Half(a.hi)}; }
PLATEN_INLINE __m256 AddToExponentHalf(__m256 a, __m256 shifted) {
  const __m256i n = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), n));
}
PLATEN_INLINE F32x16 AddToExponent(F32x16 a, F32x16 shifted) {
  return {AddToExponentHalf(a.lo, shifted.lo), AddToExponentHalf(a.hi, shifted.hi)};
}
PLATEN_INLINE F32x16 GuessReciprocal(F32x16 a) {
  const __m256i mirror = _mm256_set1_epi32(0x7EF127EA);
  return {_mm256_castsi256_ps(_mm256_sub_epi32(mirror, _mm256_castps_si256(a.lo))),
          _mm256_castsi256_ps(_mm256_sub_epi32(mirror, _mm256_castps_si256(a.hi)))};
}
// Rounds to nearest even at bit 16; the lower half of the result is to be cleared.
PLATEN_INLINE __m256i RoundUpperHalf(__m256i bits) {
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  return _mm256_add_epi32(_mm256_add_epi32(bits, odd), _mm256_set1_epi32(0x7FFF));
}
PLATEN_INLINE __m256i Bf16Half(__m256 a) {
  const __m256i bits = _mm256_castps_si256(a);
  const __m256 up = _mm256_castsi256_ps(RoundUpperHalf(bits));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x00400000));
  const __m256 nan = _mm256_cmp_ps(a, a, _CMP_UNORD_Q);
  const __m256 kept = _mm256_blendv_ps(up, _mm256_castsi256_ps(quiet), nan);
  const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), a);
  const __m256 large = _mm256_cmp_ps(magnitude, _mm256_set1_ps(kLeastBf16), _CMP_NLT_UQ);
  return _mm256_srli_epi32(_mm256_castps_si256(_mm256_and_ps(kept, large)), 16);
}
PLATEN_INLINE void StoreBf16(F32x16 a, uint16_t* p) {
  const __m256i packed = _mm256_packus_epi32(Bf16Half(a.lo), Bf16Half(a.hi));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute4x64_epi64(packed, 0xD8));
}
PLATEN_INLINE F32x16 SwapPairs(F32x16 a) {
  return {_mm256_permute_ps(a.lo, 0xB1), _mm256_permute_ps(a.hi, 0xB1)};
}
PLATEN_INLINE float ReduceAdd(F32x16 a) {
  const __m256 r8 = _mm256_add_ps(a.lo, a.hi);
  const __m128 r4 = _mm_add_ps(_mm256_castps256_ps128(r8), _mm256_extractf128_ps(r8, 1));
  const __m128 r2 = _mm_add_ps(r4, _mm_movehl_ps(r4, r4));
  return _mm_cvtss_f32(_mm_add_ss(r2, _mm_movehdup_ps(r2)));
}
// Columns of eight rows of eight words.
PLATEN_INLINE void EightColumns(const std::byte* from, ptrdiff_t stride, __m256 (&columns)[8]) {
  __m256d pairs[2][4];  // words of two rows each: the first four rows', the others'
  Unroll<2>([&](auto half) __attribute__((always_inline)) {
    __m256 words[4];  // four words of a row, and of the row four behind it
    Unroll<4>([&](auto i) __attribute__((always_inline)) {
      const auto* row = reinterpret_cast<const float*>(from + i * stride) + 4 * half;
      const auto* other = reinterpret_cast<const float*>(from + (i + 4) * stride) + 4 * half;
      words[i] =
          _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row)), _mm_loadu_ps(other), 1);
    });
    pairs[half][0] = _mm256_castps_pd(_mm256_unpacklo_ps(words[0], words[1]));
    pairs[half][1] = _mm256_castps_pd(_mm256_unpacklo_ps(words[2], words[3]));
    pairs[half][2] = _mm256_castps_pd(_mm256_unpackhi_ps(words[0], words[1]));
    pairs[half][3] = _mm256_castps_pd(_mm256_unpackhi_ps(words[2], words[3]));
  });
  Unroll<4>([&](auto i) __attribute__((always_inline)) {
    const __m256d a = pairs[i / 2][i % 2 * 2], b = pairs[i / 2][i % 2 * 2 + 1];
    columns[2 * i] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
    columns[2 * i + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
  });
}
PLATEN_INLINE void StoreTransposed(const std::byte* from, ptrdiff_t stride, float* to,
                                   ptrdiff_t to_stride) {
  for (int row = 0; row < 16; row += 8) {
    for (int first = 0; first < 16; first += 8) {
      __m256 columns[8];
      EightColumns(from + row * stride + 4 * first, stride, columns);
      Unroll<8>([&](auto i) __attribute__((always_inline)) {
        _mm256_storeu_ps(to + (first + i) * to_stride + row, columns[i]);
      });
    }
  }
}
PLATEN_INLINE void StorePairs(F32x16 first, F32x16 second, float* p) {
  const auto store = [](__m256 a, __m256 b, float* at) __attribute__((always_inline)) {
    const __m256 low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);
    _mm256_storeu_ps(at, _mm256_permute2f128_ps(low, high, 0x20));
    _mm256_storeu_ps(at + 8, _mm256_permute2f128_ps(low, high, 0x31));
  };
  store(first.lo, second.lo, p);
  store(first.hi, second.hi, p + 16);
}
PLATEN_INLINE float ReduceMax(F32x16 a) {
  const __m256 r8 = _mm256_max_ps(a.lo, a.hi);
  const __m128 r4 = _mm_max_ps(_mm256_castps256_ps128(r8), _mm256_extractf128_ps(r8, 1));
  const __m128 r2 = _mm_max_ps(r4, _mm_movehl_ps(r4, r4));
  return _mm_cvtss_f32(_mm_max_ss(r2, _mm_movehdup_ps(r2)));
}

// Register tile of the float products (generic/gemm_f32.h).
constexpr int kTileRows = 6;  // 6 x 2 registers = 12 accumulators of 16
constexpr int kTileVectors = 1;

// ------------------------------------------------------------------------------------- int8

PLATEN_INLINE F32x16 ConvertInt32(const int32_t* p) {
  return {_mm256_cvtepi32_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))),
          _mm256_cvtepi32_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 8)))};
}
PLATEN_INLINE __m256i MagnitudeBits(__m256 a) {
  return _mm256_and_si256(_mm256_castps_si256(a), _mm256_set1_epi32(0x7FFFFFFF));
}
PLATEN_INLINE __m256 MaxBits(__m256 a, __m256i b) {
  return _mm256_castsi256_ps(_mm256_max_epu32(_mm256_castps_si256(a), b));
}
PLATEN_INLINE F32x16 MaxMagnitude(F32x16 max, F32x16 a) {
  return {MaxBits(max.lo, MagnitudeBits(a.lo)), MaxBits(max.hi, MagnitudeBits(a.hi))};
}
PLATEN_INLINE float LargestMagnitude(F32x16 a) {
  const __m256i r8 = _mm256_max_epu32(_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi));
  const __m128i r4 = _mm_max_epu32(_mm256_castsi256_si128(r8), _mm256_extracti128_si256(r8, 1));
  const __m128i r2 = _mm_max_epu32(r4, _mm_shuffle_epi32(r4, 0x4E));
  return _mm_cvtss_f32(_mm_castsi128_ps(_mm_max_epu32(r2, _mm_shuffle_epi32(r2, 0xB1))));
}
PLATEN_INLINE __m256i RoundToWords(F32x16 a) {  // words 0..3, 8..11, 4..7, 12..15
  return _mm256_packs_epi32(_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi));
}
PLATEN_INLINE void StoreInt8(const F32x16 (&a)[4], int8_t* p) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const __m256i low = _mm256_packs_epi16(RoundToWords(a[0]), RoundToWords(a[1]));
  const __m256i high = _mm256_packs_epi16(RoundToWords(a[2]), RoundToWords(a[3]));
  auto* out = reinterpret_cast<__m256i*>(p);
  _mm256_storeu_si256(out, _mm256_permutevar8x32_epi32(low, order));
  _mm256_storeu_si256(out + 1, _mm256_permutevar8x32_epi32(high, order));
}
PLATEN_INLINE void StoreInt8First(F32x16 a, int8_t* p, int n) {
  alignas(32) int32_t lanes[16];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), _mm256_cvtps_epi32(a.lo));
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes + 8), _mm256_cvtps_epi32(a.hi));
  for (int i = 0; i < 16 && i < n; ++i) p[i] = static_cast<int8_t>(lanes[i]);
}
PLATEN_INLINE int32_t SumInt8(const int8_t* p, int n) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i sum = zero;
  for (int i = 0; i < n; i += 32) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + i));
    const __m256i shifted = _mm256_xor_si256(values, _mm256_set1_epi8(-128));
    sum = _mm256_add_epi64(sum, _mm256_sad_epu8(shifted, zero));
  }
  const __m128i r2 = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
  return _mm_cvtsi128_si32(_mm_add_epi64(r2, _mm_unpackhi_epi64(r2, r2))) - 128 * n;
}

// 16 integers of 16 bits: four k of four columns.
using WideInt = __m256i;
constexpr int kWideIntColumns = 4;
constexpr int kMaddRows = 6;  // 12 accumulators, two weights, one activation and the products

PLATEN_INLINE WideInt WidenWeights(const uint8_t* p) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
PLATEN_INLINE WideInt WidenSigned(const int8_t* p) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
PLATEN_INLINE WideInt BroadcastFour(int64_t four) { return _mm256_set1_epi64x(four); }
// acc += sums of pairs of w * a. In assembly and in this order, because GCC 12 fetches all
// activations first and then spills the accumulators.
PLATEN_INLINE void DotPairs(WideInt& acc, WideInt w, WideInt a) {
  WideInt products;
  asm volatile("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
               : "+x"(acc), "=&x"(products)
               : "x"(w), "x"(a));
}
// Adds the sums of 2 x kWideIntColumns columns to `out`, which is aligned.
PLATEN_INLINE void AddColumns(WideInt first, WideInt second, int32_t* out) {
  const __m256i sums = _mm256_permute4x64_epi64(_mm256_hadd_epi32(first, second), 0xD8);
  auto* to = reinterpret_cast<__m256i*>(out);
  _mm256_store_si256(to, _mm256_add_epi32(_mm256_load_si256(to), sums));
}

// --------------------------------------------------------------------------- exact attention

template <int kDistance>
PLATEN_INLINE __m256 ButterflyHalf(__m256 a, __m256 other) {
  constexpr float kSign[8] = {1.0F,
                              kDistance == 1 ? -1.0F : 1.0F,
                              kDistance == 2 ? -1.0F : 1.0F,
                              kDistance == 1 || kDistance == 2 ? -1.0F : 1.0F,
                              kDistance == 4 ? -1.0F : 1.0F,
                              kDistance == 1 || kDistance == 4 ? -1.0F : 1.0F,
                              kDistance == 2 || kDistance == 4 ? -1.0F : 1.0F,
                              -1.0F};
  return _mm256_fmadd_ps(a, _mm256_loadu_ps(kSign), other);  // the product with 1 or -1 is exact
}
template <int kDistance>
PLATEN_INLINE F32x16 Butterfly(F32x16 a) {
  if constexpr (kDistance == 8) {
    return {_mm256_add_ps(a.lo, a.hi), _mm256_sub_ps(a.lo, a.hi)};
  } else if constexpr (kDistance == 4) {
    return {ButterflyHalf<4>(a.lo, _mm256_permute2f128_ps(a.lo, a.lo, 1)),
            ButterflyHalf<4>(a.hi, _mm256_permute2f128_ps(a.hi, a.hi, 1))};
  } else {
    constexpr int kOrder = kDistance == 1 ? 0xB1 : 0x4E;
    return {ButterflyHalf<kDistance>(a.lo, _mm256_permute_ps(a.lo, kOrder)),
            ButterflyHalf<kDistance>(a.hi, _mm256_permute_ps(a.hi, kOrder))};
  }
}
PLATEN_INLINE __m256i Int8Columns(__m256 a, __m256 b, __m256 c, __m256 d) {
  const auto byte = [](__m256 x) {
    return _mm256_and_si256(_mm256_cvtps_epi32(x), _mm256_set1_epi32(255));
  };
  const __m256i low = _mm256_or_si256(byte(a), _mm256_slli_epi32(byte(b), 8));
  return _mm256_or_si256(
      low, _mm256_or_si256(_mm256_slli_epi32(byte(c), 16), _mm256_slli_epi32(byte(d), 24)));
}
PLATEN_INLINE void StoreInt8Columns(const F32x16 (&a)[4], int8_t* p) {
  auto* out = reinterpret_cast<__m256i*>(p);
  _mm256_storeu_si256(out, Int8Columns(a[0].lo, a[1].lo, a[2].lo, a[3].lo));
  _mm256_storeu_si256(out + 1, Int8Columns(a[0].hi, a[1].hi, a[2].hi, a[3].hi));
}
PLATEN_INLINE F32x16 Fraction(F32x16 x) { return Sub(x, Round(x)); }
// As its meaning down to x = -40, and less than 1/2 below.
PLATEN_INLINE F32x16 ScaleDown(F32x16 p, F32x16 x) {
  const F32x16 shift = Set1(12582912.0F);  // 1.5 * 2^23
  return AddToExponent(p, Add(Max(x, Set1(-40.0F)), shift));
}

using ExactSums = __m256i;
PLATEN_INLINE ExactSums NoSums() { return _mm256_setzero_si256(); }
PLATEN_INLINE int32_t Total(ExactSums sums) {
  const __m128i r4 = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  const __m128i r2 = _mm_add_epi32(r4, _mm_shuffle_epi32(r4, 0x4E));
  return _mm_cvtsi128_si32(_mm_add_epi32(r2, _mm_shuffle_epi32(r2, 0xB1)));
}
// Words (e + 64) >> 7 of 32 values, in the order of RoundToWords.
PLATEN_INLINE __m256i ProbabilityWords(__m256i e, ExactSums& sums) {
  sums = _mm256_add_epi32(sums, _mm256_madd_epi16(e, _mm256_set1_epi16(1)));
  return _mm256_mulhrs_epi16(e, _mm256_set1_epi16(256));
}
PLATEN_INLINE void StoreProbabilities(const F32x16 (&a)[4], ExactSums& sums, uint8_t* p) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  auto* out = reinterpret_cast<__m256i*>(p);
  Unroll<2>([&](auto half) __attribute__((always_inline)) {
    const __m256i low = ProbabilityWords(RoundToWords(a[2 * half]), sums);
    const __m256i high = ProbabilityWords(RoundToWords(a[2 * half + 1]), sums);
    const __m256i bytes = _mm256_packus_epi16(low, high);
    _mm256_storeu_si256(out + half, _mm256_permutevar8x32_epi32(bytes, order));
  });
}

}  // namespace platen::PLATEN_ISA
