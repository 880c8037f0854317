// The inner loop of the int8 product on AMX: one unit, which is a block of rows, 32 or 64 columns
// and one group of k.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"
#include "model/kernels/x86/amx_layouts.h"
#include "model/kernels/x86/amx_sums.h"

namespace platen::PLATEN_ISA {

// Operands of one unit: the rows of a block, some columns of a panel, one group of k.
struct Unit {
  const int8_t* a;
  ptrdiff_t a_stride;
  const uint8_t* weights;  // first column of the unit
  int rows;
  int steps;             // of 64 k, a padded one at the end included
  const int8_t* a_tail;  // [rows][64] of the padded step; nullptr: none
  const uint8_t* w_tail;
  int32_t* dots;
};

// Weights of the next panel to prefetch into L2, in four streams of memory that are read side by
// side.
struct PanelStreams {
  const uint8_t* next = nullptr;  // of the first stream
  const uint8_t* end = nullptr;   // of the first stream
  ptrdiff_t distance = 0;         // from stream to stream
  int lines = 0;                  // cache lines of each stream per step
};

PLATEN_INLINE void PrefetchLines(const uint8_t* line, int lines) {
  for (int i = 0; i < lines; ++i) {
    __builtin_prefetch(line + i * 64, 0, 2);
  }
}

// The share of tile product 0 .. 3 in what a step prefetches, `lines` of each stream: all lines of
// one stream or, where a single block prefetches the whole panel, a quarter of each stream's.
template <bool kOneBlock>
PLATEN_INLINE void PrefetchStreams(int product, const uint8_t* next, ptrdiff_t distance,
                                   int lines) {
  if constexpr (kOneBlock) {
    const int share = lines / 4;
    Unroll<4>([&](auto stream) __attribute__((always_inline)) {
      PrefetchLines(next + stream * distance + product * share * 64, share);
    });
  } else {
    PrefetchLines(next + product * distance, lines);
  }
}

// Prefetches a quarter of the weights of a step into L1: 4 tile rows of V vectors.
template <int V>
PLATEN_INLINE void PrefetchQuarter(const uint8_t* w, int quarter) {
  constexpr int kRows = kAmxRows / 4;
  Unroll<kRows>([&](auto row) __attribute__((always_inline)) {
    const uint8_t* line = w + (quarter * kRows + row) * kWeightStride;
    Unroll<V>([&](auto v)
                  __attribute__((always_inline)) { __builtin_prefetch(line + v * 64, 0, 3); });
  });
}

constexpr int kProducts = 4;  // tile products of a step

// f(0) ... f(n - 1); n is kSteps unless that is 0.
template <int kSteps, class F>
PLATEN_INLINE void ForSteps(int n, F f) {
  if constexpr (kSteps != 0) {
    Unroll<kSteps>(f);
  } else {
    for (int i = 0; i < n; ++i) f(i);
  }
}

// Writes the integer sums of a unit to u.dots. While the tiles multiply, the pending sums of the
// unit before, which lie there so far, are added to their values, and weights are prefetched: those
// of the next panel into L2 and, where several blocks use them, those of the next step from L2 into
// L1.
template <class Layout, bool kOneBlock, Sink kSink, int kSteps>
[[gnu::noinline]] void MultiplyUnit(const Unit& u, const PendingSums& pending,
                                    PanelStreams& streams) {
  Adder<Layout::kVectors, kSink> adder(pending);
  const int8_t* a = u.a;
  ptrdiff_t a_stride = u.a_stride;
  const uint8_t* w = u.weights;
  const int rows = u.rows;
  const int steps = u.steps;
  const int share = (rows + kProducts * steps - 1) / (kProducts * steps);
  const uint8_t* next = streams.next;
  const ptrdiff_t distance = streams.distance;
  const int lines = streams.next < streams.end ? streams.lines : 0;
  streams.next += static_cast<ptrdiff_t>(steps) * lines * 64;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  ForSteps<kSteps>(
      steps, [&](auto i) __attribute__((always_inline)) {
        if (kSteps == 0 && i + 1 == steps && u.a_tail != nullptr) {
          a = u.a_tail - i * kTileK;
          a_stride = kTileK;
          w = u.w_tail - i * kTileK * kPanelColumns;
        }
        Layout::Multiply(
            a + i * kTileK, a_stride, rows,
            w + i * kTileK * kPanelColumns, [&](auto product) __attribute__((always_inline)) {
              PrefetchStreams<kOneBlock>(product, next, distance, lines);
              if constexpr (!kOneBlock) {
                PrefetchQuarter<Layout::kVectors>(w + (i + 1) * kTileK * kPanelColumns, product);
              }
              if constexpr (kSteps != 0) {
                adder.template AddNext<kPanelColumns / Layout::kVectors / (kProducts * kSteps)>();
              } else {
                adder.AddNext(share);
              }
            });
        next += lines * 64;
      });
  adder.AddRest();
  Layout::StoreSums(rows, u.dots);
}

}  // namespace platen::PLATEN_ISA
