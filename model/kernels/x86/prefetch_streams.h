// Prefetching the weights that follow while those of a group are multiplied, in one stream of
// memory or in four. Which is faster depends on the CPU and its memory: four streams side by side
// read 17 GB/s and one reads 11 on Intel's Sapphire Rapids, 22 and 30 on AMD's Zen 4.
//
// The inner loops pass over the same k four times, each time for other columns. Which pass
// prefetches which part of the weights that follow, a digit for each sixteenth of them:
//
//                quarter 0  quarter 1  quarter 2  quarter 3
//     1 stream    0 0 0 0    1 1 1 1    2 2 2 2    3 3 3 3
//     4 streams   0 1 2 3    0 1 2 3    0 1 2 3    0 1 2 3
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/isa.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

// Localities of __builtin_prefetch.
constexpr int kIntoL1 = 3;
constexpr int kIntoL2 = 2;

// An iteration of an inner loop multiplies so many fours of k and prefetches four cache lines.
constexpr int kFoursPerIteration = 4;

// The four lines of an iteration: one of each of four streams, or the next ones of one stream.
struct PrefetchCursor {
  const uint8_t* next = nullptr;  // nullptr: prefetch nothing
  ptrdiff_t distance = 0;         // from line to line of an iteration
  ptrdiff_t advance = 0;          // from iteration to iteration

  PLATEN_INLINE void Advance() {
    if (next == nullptr) return;
    if (distance == 64) {
      Lines<kIntoL2>();
    } else {
      Lines<kIntoL1>();
    }
    next += advance;
  }

 private:
  template <int kLocality>
  PLATEN_INLINE void Lines() const {
    Unroll<4>([&](auto line) __attribute__((always_inline)) {
      __builtin_prefetch(next + line * distance, 0, kLocality);
    });
  }
};

// What pass 0 .. 3 over `k` x 64 weights prefetches of as many that follow them; other passes
// nothing.
PLATEN_INLINE PrefetchCursor CursorOf(int prefetch_streams, const uint8_t* weights, int k,
                                      int pass) {
  if (prefetch_streams == 0 || pass >= 4) return {};
  const ptrdiff_t bytes = static_cast<ptrdiff_t>(k) * kPanelColumns;
  if (prefetch_streams == 1) return {weights + bytes + bytes / 4 * pass, 64, 256};
  return {weights + bytes + bytes / 16 * pass, bytes / 4, 64};
}

// multiply(0) ... multiply(k4 - 1), prefetching with every kFoursPerIteration of them.
template <class F>
PLATEN_INLINE void ForFoursOfK(int k4, PrefetchCursor cursor, F multiply) {
  int i = 0;
  for (; i + kFoursPerIteration <= k4; i += kFoursPerIteration) {
    cursor.Advance();
    Unroll<kFoursPerIteration>([&](auto j) __attribute__((always_inline)) { multiply(i + j); });
  }
  for (; i < k4; ++i) multiply(i);
}

}  // namespace platen::PLATEN_ISA
