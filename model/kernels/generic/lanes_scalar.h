// 16 float lanes as an array: the definition of every operation on F32x16.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "model/kernels/generic/isa.h"
#include "model/kernels/kernels.h"
#include "model/support/bf16.h"

namespace platen::PLATEN_ISA {

struct F32x16 {
  float v[16];
};

template <class F>
inline F32x16 Map(F f) {
  F32x16 r;
  for (int i = 0; i < 16; ++i) r.v[i] = f(i);
  return r;
}

inline F32x16 Set1(float x) {
  return Map([&](int) { return x; });
}
inline F32x16 Load(const float* p) {
  return Map([&](int i) { return p[i]; });
}
// First `n` lanes from p, the others 0; n may exceed 16.
inline F32x16 LoadFirst(const float* p, int n) {
  return Map([&](int i) { return i < n ? p[i] : 0.0F; });
}
// Sixteen pairs of bf16, one in every lane, the first in the lower half.
inline F32x16 LoadPairs(const void* p) {
  F32x16 pairs;
  std::memcpy(pairs.v, p, sizeof(pairs.v));
  return pairs;
}
// The first and the second of every pair, widened.
inline F32x16 FirstOfPairs(F32x16 pairs) {
  return Map(
      [&](int i) { return std::bit_cast<float>(std::bit_cast<uint32_t>(pairs.v[i]) << 16); });
}
inline F32x16 SecondOfPairs(F32x16 pairs) {
  return Map([&](int i) {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(pairs.v[i]) & 0xFFFF0000U);
  });
}
inline void Store(F32x16 a, float* p) {
  for (int i = 0; i < 16; ++i) p[i] = a.v[i];
}
// First `n` lanes to p; n may exceed 16.
inline void StoreFirst(F32x16 a, float* p, int n) {
  for (int i = 0; i < 16 && i < n; ++i) p[i] = a.v[i];
}
// First `n` lanes of a, the others `other`.
inline F32x16 KeepFirst(F32x16 a, int n, float other) {
  return Map([&](int i) { return i < n ? a.v[i] : other; });
}
inline F32x16 Add(F32x16 a, F32x16 b) {
  return Map([&](int i) { return a.v[i] + b.v[i]; });
}
inline F32x16 Sub(F32x16 a, F32x16 b) {
  return Map([&](int i) { return a.v[i] - b.v[i]; });
}
inline F32x16 Mul(F32x16 a, F32x16 b) {
  return Map([&](int i) { return a.v[i] * b.v[i]; });
}
inline F32x16 Div(F32x16 a, F32x16 b) {
  return Map([&](int i) { return a.v[i] / b.v[i]; });
}
// a * b + c, rounded once.
inline F32x16 Fma(F32x16 a, F32x16 b, F32x16 c) {
  return Map([&](int i) { return std::fma(a.v[i], b.v[i], c.v[i]); });
}
// sum = a * b + sum
inline void AddProduct(F32x16 a, F32x16 b, F32x16& sum) { sum = Fma(a, b, sum); }
// a > b ? a : b
inline F32x16 Max(F32x16 a, F32x16 b) {
  return Map([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
// a < b ? a : b
inline F32x16 Min(F32x16 a, F32x16 b) {
  return Map([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}
// Nearest integer, ties to even; |a| < 2^22.
inline F32x16 Round(F32x16 a) {
  return Map([&](int i) { return std::nearbyint(a.v[i]); });
}
// 2^a for integral a in [-126, 127].
inline F32x16 Pow2(F32x16 a) {
  return Map(
      [&](int i) { return std::bit_cast<float>((static_cast<int32_t>(a.v[i]) + 127) << 23); });
}
// a * 2^n for shifted = n + kRoundingShift; a and the result normal.
inline F32x16 AddToExponent(F32x16 a, F32x16 shifted) {
  return Map([&](int i) {
    const uint32_t n = std::bit_cast<uint32_t>(shifted.v[i]) << 23;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(a.v[i]) + n);
  });
}
// 1 / a within 13 %, for a in [2^-120, 2^120]: subtracting the bits from a constant negates the
// exponent and mirrors the mantissa.
inline F32x16 GuessReciprocal(F32x16 a) {
  return Map(
      [&](int i) { return std::bit_cast<float>(0x7EF127EAU - std::bit_cast<uint32_t>(a.v[i])); });
}
// Stores a as 16 bits each, by the rule of model/support/bf16.h.
inline void StoreBf16(F32x16 a, uint16_t* p) {
  for (int i = 0; i < 16; ++i) p[i] = ToBf16(a.v[i]);
}
// Swaps the two lanes of every pair (2i, 2i + 1).
inline F32x16 SwapPairs(F32x16 a) {
  return Map([&](int i) { return a.v[i ^ 1]; });
}
// Fixed tree: lanes i and i + 8, then + 4, + 2, + 1.
inline float ReduceAdd(F32x16 a) {
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) a.v[i] = a.v[i] + a.v[i + width];
  }
  return a.v[0];
}
// Row j of `to` is column j of 16 rows of 16 words at `from`, which are `stride` bytes apart.
inline void StoreTransposed(const std::byte* from, ptrdiff_t stride, float* to,
                            ptrdiff_t to_stride) {
  for (int row = 0; row < 16; ++row, from += stride) {
    const F32x16 words = LoadPairs(from);
    for (int column = 0; column < 16; ++column) to[column * to_stride + row] = words.v[column];
  }
}
// 32 floats: the first lanes of both, then the second ones, and so on.
inline void StorePairs(F32x16 first, F32x16 second, float* p) {
  for (int i = 0; i < 16; ++i) {
    p[2 * i] = first.v[i];
    p[2 * i + 1] = second.v[i];
  }
}
inline float ReduceMax(F32x16 a) {
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) a.v[i] = a.v[i] > a.v[i + width] ? a.v[i] : a.v[i + width];
  }
  return a.v[0];
}

// Register tile of the float products (generic/gemm_f32.h): rows, and vectors of 16 columns.
constexpr int kTileRows = 4;
constexpr int kTileVectors = 1;

// ------------------------------------------------------------------------------------- int8

inline F32x16 ConvertInt32(const int32_t* p) {
  return Map([&](int i) { return static_cast<float>(p[i]); });
}
// The larger of max and |a|, ordered like the bits: a NaN is larger than infinity.
inline F32x16 MaxMagnitude(F32x16 max, F32x16 a) {
  return Map([&](int i) {
    const uint32_t bits = std::bit_cast<uint32_t>(a.v[i]) & 0x7FFFFFFFU;
    return bits > std::bit_cast<uint32_t>(max.v[i]) ? std::bit_cast<float>(bits) : max.v[i];
  });
}
inline float LargestMagnitude(F32x16 a) {
  float largest = 0.0F;
  for (int i = 0; i < 16; ++i) {
    if (std::bit_cast<uint32_t>(a.v[i]) > std::bit_cast<uint32_t>(largest)) largest = a.v[i];
  }
  return largest;
}
// Nearest integers, ties to even, of the 64 lanes; |a| < 127.5.
inline void StoreInt8(const F32x16 (&a)[4], int8_t* p) {
  for (int i = 0; i < 64; ++i) p[i] = static_cast<int8_t>(std::nearbyint(a[i / 16].v[i % 16]));
}
inline void StoreInt8First(F32x16 a, int8_t* p, int n) {
  for (int i = 0; i < 16 && i < n; ++i) p[i] = static_cast<int8_t>(std::nearbyint(a.v[i]));
}
// Sum of n values, a multiple of 64.
inline int32_t SumInt8(const int8_t* p, int n) {
  int32_t sum = 0;
  for (int i = 0; i < n; ++i) sum += p[i];
  return sum;
}

// --------------------------------------------------------------------------- exact attention

// Lane i, with j = i ^ kDistance: the sum of lanes i and j where i < j, else lane j less lane i.
template <int kDistance>
inline F32x16 Butterfly(F32x16 a) {
  return Map([&](int i) {
    const float other = a.v[i ^ kDistance];
    return (i & kDistance) == 0 ? a.v[i] + other : other - a.v[i];
  });
}
// Nearest integers, ties to even, of four rows of 16: p[4 i + r] = a[r] lane i; |a| < 127.5.
inline void StoreInt8Columns(const F32x16 (&a)[4], int8_t* p) {
  for (int i = 0; i < 64; ++i) p[i] = static_cast<int8_t>(std::nearbyint(a[i % 4].v[i / 4]));
}
// p * 2^round(x) for 1 <= p < 2^16, x <= 0; below x = -40 less than 1/2.
inline F32x16 ScaleDown(F32x16 p, F32x16 x) {
  return Map([&](int i) {
    const float n = std::nearbyint(x.v[i]);
    return n < -100.0F ? 0.0F : std::ldexp(p.v[i], static_cast<int>(n));
  });
}
// x - round(x) for x <= 0, for ScaleDown.
inline F32x16 Fraction(F32x16 x) {
  return Map([&](int i) { return x.v[i] - std::nearbyint(x.v[i]); });
}

// Sums of integers of 15 bits.
using ExactSums = int32_t;
inline ExactSums NoSums() { return 0; }
inline int32_t Total(ExactSums sums) { return sums; }
// e = the nearest integers, ties to even, of 64 values of 0 .. 32640: adds them to `sums` and
// stores (e + 64) >> 7.
inline void StoreProbabilities(const F32x16 (&a)[4], ExactSums& sums, uint8_t* p) {
  for (int i = 0; i < 64; ++i) {
    const auto e = static_cast<int32_t>(std::nearbyint(a[i / 16].v[i % 16]));
    sums += e;
    p[i] = static_cast<uint8_t>((e + 64) >> 7);
  }
}

}  // namespace platen::PLATEN_ISA
