// Sums of int8 products for CPUs without VNNI: bytes are widened to 16 bits and multiplied by
// vpmaddwd. (vpmaddubsw on the bytes would saturate.)
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"
#include "model/kernels/x86/prefetch_streams.h"

namespace platen::PLATEN_ISA {

constexpr int kWideK = 512;       // k of activations that are widened at once
constexpr int kSliceVectors = 2;  // of weights in a register tile
constexpr int kSliceColumns = kSliceVectors * kWideIntColumns;

// Adds to dots[MR][kSliceColumns] the products of a slice of a panel's columns; a: [MR][kWideK].
template <int MR>
[[gnu::noinline]] void MaddColumns(const int16_t* a, const uint8_t* slice, int k4,
                                   const PrefetchCursor& cursor, int32_t* dots) {
  WideInt acc[MR][kSliceVectors];  // two partial sums (k0 + k1, k2 + k3) for each column
  Unroll<MR>([&](auto r) __attribute__((always_inline)) { acc[r][0] = acc[r][1] = WideInt{}; });
  ForFoursOfK(
      k4, cursor, [&](int i) __attribute__((always_inline)) {
        const uint8_t* w = slice + static_cast<ptrdiff_t>(i) * kPanelColumns * 4;
        const WideInt w0 = WidenWeights(w);
        const WideInt w1 = WidenWeights(w + kWideIntColumns * 4);
        Unroll<MR>([&](auto r) __attribute__((always_inline)) {
          int64_t four;
          __builtin_memcpy(&four, a + r * kWideK + i * 4, sizeof(four));
          const WideInt x = BroadcastFour(four);
          DotPairs(acc[r][0], w0, x);
          DotPairs(acc[r][1], w1, x);
        });
      });
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    AddColumns(acc[r][0], acc[r][1], dots + r * kPanelColumns);
  });
}

PLATEN_INLINE void Widen(const int8_t* a, int k, int16_t* out) {
  int i = 0;
  for (; i + 16 <= k; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_cvtepi8_epi16(bytes));
  }
  for (; i < k; ++i) out[i] = a[i];
}

// sums[MR][kSliceColumns] = p * a slice of the columns of a block of values
// (generic/attention_int8.h); p: [MR][kKeySplit].
template <int MR>
[[gnu::noinline]] void MaddValues(const int16_t* p, const int8_t* slice, ptrdiff_t stride, int keys,
                                  int32_t* sums) {
  WideInt acc[MR][kSliceVectors];
  Unroll<MR>([&](auto r) __attribute__((always_inline)) { acc[r][0] = acc[r][1] = WideInt{}; });
  for (int j = 0; j < keys; j += 4, slice += stride * 4) {
    const WideInt v0 = WidenSigned(slice);
    const WideInt v1 = WidenSigned(slice + kWideIntColumns * 4);
    Unroll<MR>([&](auto r) __attribute__((always_inline)) {
      int64_t four;
      __builtin_memcpy(&four, p + r * kKeySplit + j, sizeof(four));
      const WideInt x = BroadcastFour(four);
      DotPairs(acc[r][0], v0, x);
      DotPairs(acc[r][1], v1, x);
    });
  }
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    AddColumns(acc[r][0], acc[r][1], sums + r * kPanelColumns);
  });
}

PLATEN_INLINE void Widen(const uint8_t* p, int k, int16_t* out) {
  for (int i = 0; i < k; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_cvtepu8_epi16(bytes));
  }
}

struct MaddDotProduct {
  static constexpr int kRows = kMaddRows;

  // Sums of one group (generic/gemm_s8.h). As many weights that follow in memory are prefetched.
  PLATEN_INLINE static void Group(int rows, const int8_t* a, ptrdiff_t a_stride,
                                  const int32_t* corrections, int correction_stride,
                                  const uint8_t* panel, int k4, int prefetch_streams,
                                  int32_t* dots) {
    alignas(64) int16_t wide[kRows * kWideK];
    for (int r = 0; r < rows; ++r) {
      for (int n = 0; n < kPanelColumns; ++n) {
        dots[r * kPanelColumns + n] = corrections[r * correction_stride];
      }
    }
    for (int begin = 0; begin < 4 * k4; begin += kWideK) {
      const int k = 4 * k4 - begin < kWideK ? 4 * k4 - begin : kWideK;
      for (int r = 0; r < rows; ++r) Widen(a + r * a_stride + begin, k, wide + r * kWideK);
      const uint8_t* weights = panel + static_cast<ptrdiff_t>(begin) * kPanelColumns;
      for (int n = 0; n < kPanelColumns; n += kSliceColumns) {
        const PrefetchCursor cursor = CursorOf(prefetch_streams, weights, k, n / kSliceColumns);
        WithIndex<kRows>(
            rows, [&](auto count) __attribute__((always_inline)) {
              MaddColumns<count>(wide, weights + n * 4, k / 4, cursor, dots + n);
            });
      }
    }
  }

  PLATEN_INLINE static void Values(int rows, const uint8_t* p, const int8_t* values, int stride,
                                   int keys, int columns, int32_t* sums) {
    alignas(64) int16_t wide[kRows * kKeySplit];
    for (int r = 0; r < rows; ++r) Widen(p + r * kKeySplit, keys, wide + r * kKeySplit);
    for (int i = 0; i < rows * kPanelColumns; ++i) sums[i] = 0;
    for (int n = 0; n < columns; n += kSliceColumns) {
      WithIndex<kRows>(
          rows, [&](auto count) __attribute__((always_inline)) {
            MaddValues<count>(wide, values + n * 4, stride, keys, sums + n);
          });
    }
  }
};

}  // namespace platen::PLATEN_ISA
