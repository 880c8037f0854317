// Attention with both products on bf16 values.
//
// The definition is what AMX's tdpbf16ps computes, which sums 16 pairs at a time: a chunk of 32
// values of k gives two chains of fused multiply-adds from 0, one over the even and one over the
// odd indices, and then
//   sum = sum + (even + odd),  chunks ascending.
// The instruction takes denormals as 0. None can appear: no bf16 value lies between 0 and 2^-40 in
// magnitude, so every product is a multiple of 2^-94, and so is every sum of products however it is
// rounded. Chunks start at multiples of 32 of the head, and of the keys.
//
// Queries are scaled in f32, then rounded; probabilities are rounded after they were summed in f32.
// out = fma(out, rescale, p V) per block of kKeySplit keys.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/attention.h"
#include "model/kernels/generic/attention_products.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

constexpr int kBf16Chunk = 32;
constexpr int kBf16Rows = kTileVectors > 1 ? 4 : 2;

// c[MR][16] = a[MR][k] * 16 columns of b from `first`; k a multiple of kBf16Chunk.
template <int MR>
[[gnu::noinline]] void MultiplyChunks(const float* a, ptrdiff_t a_stride, const PagedRows& b,
                                      int first, float* c, ptrdiff_t c_stride) {
  F32x16 sum[MR];
  Unroll<MR>([&](auto r) __attribute__((always_inline)) { sum[r] = Set1(0.0F); });
  for (int k = 0; k < b.k; k += kBf16Chunk) {
    const auto* page = static_cast<const uint16_t*>(b.pages[k / b.page_rows]);
    const uint16_t* row = page + (k % b.page_rows) * b.columns + first * 2;
    F32x16 even[MR], odd[MR];
    Unroll<MR>([&](auto r) __attribute__((always_inline)) { even[r] = odd[r] = Set1(0.0F); });
    for (int i = 0; i < kBf16Chunk; i += 2, row += b.columns * 2) {
      const F32x16 w0 = FirstOfPairs(LoadPairs(row));
      const F32x16 w1 = SecondOfPairs(LoadPairs(row));
      Unroll<MR>([&](auto r) __attribute__((always_inline)) {
        even[r] = Fma(Set1(a[r * a_stride + k + i]), w0, even[r]);
        odd[r] = Fma(Set1(a[r * a_stride + k + i + 1]), w1, odd[r]);
      });
    }
    Unroll<MR>([&](auto r)
                   __attribute__((always_inline)) { sum[r] = Add(sum[r], Add(even[r], odd[r])); });
  }
  Unroll<MR>([&](auto r) __attribute__((always_inline)) { Store(sum[r], c + r * c_stride); });
}

// Any number of rows, all columns of the pages.
PLATEN_INLINE void MultiplyBf16(int rows, const float* a, ptrdiff_t a_stride, const PagedRows& b,
                                float* c, ptrdiff_t c_stride) {
  for (int n = 0; n < b.columns; n += 16) {
    int r = 0;
    for (; r + kBf16Rows <= rows; r += kBf16Rows) {
      MultiplyChunks<kBf16Rows>(a + r * a_stride, a_stride, b, n, c + r * c_stride + n, c_stride);
    }
    for (; r < rows; ++r) {
      MultiplyChunks<1>(a + r * a_stride, a_stride, b, n, c + r * c_stride + n, c_stride);
    }
  }
}

struct Bf16Products {
  PLATEN_INLINE static int Depth(const AttentionJob& job) { return job.v_stride; }
  static constexpr int kValuesPerFloat = 1;
  // The product with 0 keeps a NaN, which RoundToBf16 would make 0.
  PLATEN_INLINE static void PutQuery(F32x16 x, int i, int, float* q) {
    Store(Fma(x, Set1(0.0F), RoundToBf16(x)), q + i);
  }
  PLATEN_INLINE static void PutProbabilities(F32x16 x, int i, float* p) {
    Store(RoundToBf16(x), p + i);
  }
  PLATEN_INLINE static void Scores(int rows, const float* q, const SplitPages& split, float* s) {
    for (int i = 0; i < split.count; ++i) {
      const PagedRows keys = {split.keys + i, split.depth, split.tokens, split.depth};
      MultiplyBf16(rows, q, split.depth, keys, s + i * split.tokens, kKeySplit);
    }
  }
  PLATEN_INLINE static void Weigh(int rows, const float* p, const PagedRows& values,
                                  const float* rescale, float* out) {
    alignas(64) float sum[kTileRows * kMaxHeadDim];
    PagedRows chunks = values;
    chunks.k = (values.k + kBf16Chunk - 1) / kBf16Chunk * kBf16Chunk;
    MultiplyBf16(rows, p, kKeySplit, chunks, sum, values.columns);
    for (int r = 0; r < rows; ++r) {
      float* o = out + r * values.columns;
      for (int i = 0; i < values.columns; i += 16) {
        Store(Fma(Load(o + i), Set1(rescale[r]), Load(sum + r * values.columns + i)), o + i);
      }
    }
  }
};

inline void AttentionBf16(const AttentionJob& job) { AttendTiles<Bf16Products>(job); }

}  // namespace platen::PLATEN_ISA
