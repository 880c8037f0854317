// The f32 product over F32x16.
//
// An output element is one lane of one accumulator that sums over k in ascending order. A register
// tile of MR rows x NV vectors is held in registers while k advances:
//
//                NV vectors of 16 columns of a panel, of one k
//                  w[0]       w[1]     ...
//   a[0][k]     acc[0][0]  acc[0][1]   ...      for every k: load NV vectors of weights, broadcast
//   a[1][k]     acc[1][0]  acc[1][1]   ...      MR activations, MR * NV fused multiply-adds.
//     ...                                       MR x NV is at most 4 x 1 (scalar), 6 x 1 (AVX2: 12
//   a[MR-1][k]                                  of 16 registers) or 6 x 4 (AVX-512: 24 of 32).
//
// k is walked in slices, so that two slices of a panel, the rows of A beside them and their sums
// fit an L2 cache of 1 MiB; between slices the sums lie in memory as floats, which changes no bit.
// While a slice is multiplied the next one is prefetched, a few lines at a time: the products run
// near the peak from L2 alone, and a burst of prefetches would delay their loads.
#pragma once

#include <cstddef>

#include "model/kernels/generic/epilogue.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/row_blocks.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

constexpr int kMaxSlice = 768;      // k of one slice
constexpr int kF32ChunkRows = 192;  // rows and panels whose sums are kept between slices
constexpr int kChunkPanels = 4;
constexpr int kStepDepth = 2;  // k between two prefetches
constexpr int kLine = 16;      // floats of a cache line

// Memory that is needed soon; `lines` cache lines of it are prefetched per step.
struct PanelPrefetch {
  const float* next;
  const float* end;
  int lines;
};

PLATEN_INLINE void PrefetchSome(PanelPrefetch& prefetch) {
  const float* next = prefetch.next;
  if (next >= prefetch.end) return;
  for (int l = 0; l < prefetch.lines; ++l) __builtin_prefetch(next + l * kLine, 0, 2);  // into L2
  prefetch.next = next + prefetch.lines * kLine;
}

// c[rows][64] (+)= a[rows, k] * b[k][64], as many vectors of 16 columns as there are results in.
struct SliceTile {
  const float* a;
  ptrdiff_t a_stride;
  const float* b;
  int k;
  bool accumulate;
  float* c;
  int vectors;
};

// One k: acc[MR][NV] += a[MR] * b[16 NV].
template <int MR, int NV>
PLATEN_INLINE void MultiplyStep(const float* a, ptrdiff_t a_stride, const float* b,
                                F32x16 (&acc)[MR][NV]) {
  F32x16 w[NV];
  Unroll<NV>([&](auto v) __attribute__((always_inline)) { w[v] = Load(b + v * 16); });
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    const F32x16 x = Set1(a[r * a_stride]);
    Unroll<NV>([&](auto v) __attribute__((always_inline)) { acc[r][v] = Fma(x, w[v], acc[r][v]); });
  });
}

// 16 NV columns of the tile.
template <int MR, int NV>
PLATEN_INLINE void MultiplyColumns(const SliceTile& tile, int column, PanelPrefetch& wanted) {
  const float* a = tile.a;
  const float* b = tile.b + column;
  float* c = tile.c + column;
  const ptrdiff_t a_stride = tile.a_stride;
  PanelPrefetch prefetch = wanted;
  F32x16 acc[MR][NV];
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    Unroll<NV>([&](auto v) __attribute__((always_inline)) {
      acc[r][v] = tile.accumulate ? Load(c + r * kPanelColumns + v * 16) : Set1(0.0F);
    });
  });
  const int k = tile.k;
  int i = 0;
  for (; i + kStepDepth <= k; i += kStepDepth) {
    PrefetchSome(prefetch);
    Unroll<kStepDepth>([&](auto u) __attribute__((always_inline)) {
      MultiplyStep<MR, NV>(a + i + u, a_stride, b + (i + u) * kPanelColumns, acc);
    });
  }
  for (; i < k; ++i) MultiplyStep<MR, NV>(a + i, a_stride, b + i * kPanelColumns, acc);
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    Unroll<NV>([&](auto v) __attribute__((always_inline)) {
      Store(acc[r][v], c + r * kPanelColumns + v * 16);
    });
  });
  wanted = prefetch;
}

// One function per number of rows and vectors, so that GCC 12 keeps the accumulators in registers.
template <int MR, int NV>
[[gnu::noinline]] void MultiplyRows(const SliceTile& tile, PanelPrefetch& prefetch) {
  for (int vector = 0; vector < tile.vectors; vector += NV) {
    MultiplyColumns<MR, NV>(tile, vector * 16, prefetch);
  }
}

// For 1 .. kTileRows rows. A panel whose last columns are padding takes fewer vectors.
PLATEN_INLINE void MultiplyTile(int rows, const SliceTile& tile, PanelPrefetch& prefetch) {
  WithIndex<kTileRows>(
      rows, [&](auto count) __attribute__((always_inline)) {
        WithIndex<kTileVectors>(
            tile.vectors < kTileVectors ? tile.vectors : kTileVectors, [&](auto vectors)
                                                                           __attribute__((
                                                                               always_inline)) {
                                                                             MultiplyRows<count,
                                                                                          vectors>(
                                                                                 tile, prefetch);
                                                                           });
      });
}

// Vectors of 16 columns that hold results of a panel.
PLATEN_INLINE int VectorsOf(const GemmF32Job& job, int panel) {
  if (job.epilogue == Epilogue::kSiluMul) return kPanelColumns / 16;
  const int columns = job.columns - panel * kPanelColumns;
  return (columns < kPanelColumns ? columns + 15 : kPanelColumns) / 16;
}

// Bias and epilogue of 64 sums of a row.
PLATEN_INLINE void FinishPanelRow(const GemmF32Job& job, int panel, int row, const float* sums) {
  const int panel_columns = job.epilogue == Epilogue::kSiluMul ? kPanelColumns / 2 : kPanelColumns;
  const int columns = job.columns - panel * panel_columns;
  FinishRow(sums, job.bias == nullptr ? nullptr : job.bias + panel * kPanelColumns, job.epilogue,
            columns < panel_columns ? columns : panel_columns,
            job.c + row * job.c_stride + panel * panel_columns);
}

// k in [begin, end) of one panel for all rows of a chunk, and the slice that is needed after it.
struct PanelSlice {
  int panel;
  int begin, end;
  const float* next;  // nullptr: nothing
};

// Adds the slice to `sums`, [rows][64] of this panel; after the last slice finishes the rows. Where
// a slice is the whole depth, all blocks of rows use the same memory for their sums.
PLATEN_INLINE void MultiplyPanelSlice(const GemmF32Job& job, const PanelSlice& slice, float* sums) {
  const bool whole = slice.begin == 0 && slice.end == job.k;
  const int depth = slice.end - slice.begin;
  const int vectors = VectorsOf(job, slice.panel);
  const int blocks = BlockCount(job.rows);
  const int tiles = blocks * (4 / kTileVectors);  // each prefetches its share of 4 lines per k
  const float* next_end = slice.next == nullptr ? nullptr : slice.next + depth * kPanelColumns;
  PanelPrefetch prefetch = {slice.next, next_end, (4 * kStepDepth + tiles - 1) / tiles};
  const float* panel =
      job.panels + (static_cast<ptrdiff_t>(slice.panel) * job.k + slice.begin) * kPanelColumns;
  for (int i = 0; i < blocks; ++i) {
    const int first = BlockStart(job.rows, blocks, i);
    const int rows = BlockStart(job.rows, blocks, i + 1) - first;
    float* c = whole ? sums : sums + first * kPanelColumns;
    MultiplyTile(rows,
                 {job.a + first * job.a_stride + slice.begin, job.a_stride, panel, depth,
                  slice.begin > 0, c, vectors},
                 prefetch);
    if (slice.end < job.k) continue;
    for (int r = 0; r < rows; ++r) {
      FinishPanelRow(job, slice.panel, first + r, c + r * kPanelColumns);
    }
  }
}

// At most kF32ChunkRows rows and kChunkPanels panels: slices outside, panels inside, so that a
// slice of the rows is read from L2 for all panels.
inline void MultiplyChunk(const GemmF32Job& job) {
  alignas(64) float sums[kChunkPanels * kF32ChunkRows * kPanelColumns];
  const int slices = (job.k + kMaxSlice - 1) / kMaxSlice;
  const ptrdiff_t panel_size = static_cast<ptrdiff_t>(job.k) * kPanelColumns;
  for (int s = 0; s < slices; ++s) {
    PanelSlice slice = {0, BlockStart(job.k, slices, s), BlockStart(job.k, slices, s + 1), nullptr};
    for (int p = 0; p < job.num_panels; ++p) {
      slice.panel = p;
      slice.next = nullptr;
      if (p + 1 < job.num_panels) {
        slice.next = job.panels + (p + 1) * panel_size + slice.begin * kPanelColumns;
      } else if (s + 1 < slices) {
        slice.next = job.panels + slice.end * kPanelColumns;
      }
      MultiplyPanelSlice(job, slice, sums + (slices > 1 ? p * job.rows * kPanelColumns : 0));
    }
  }
}

inline void GemmF32(const GemmF32Job& job) {
  const int panel_columns = job.epilogue == Epilogue::kSiluMul ? kPanelColumns / 2 : kPanelColumns;
  for (int row = 0; row < job.rows; row += kF32ChunkRows) {
    for (int panel = 0; panel < job.num_panels; panel += kChunkPanels) {
      GemmF32Job chunk = job;
      chunk.a += row * job.a_stride;
      chunk.rows = job.rows - row < kF32ChunkRows ? job.rows - row : kF32ChunkRows;
      chunk.panels += static_cast<ptrdiff_t>(panel) * job.k * kPanelColumns;
      chunk.num_panels =
          job.num_panels - panel < kChunkPanels ? job.num_panels - panel : kChunkPanels;
      if (job.bias != nullptr) chunk.bias += panel * kPanelColumns;
      chunk.c += row * job.c_stride + panel * panel_columns;
      chunk.columns = job.columns - panel * panel_columns;
      MultiplyChunk(chunk);
    }
  }
}

}  // namespace platen::PLATEN_ISA
