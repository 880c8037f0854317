// Prefetching the weights that follow while those of a slice are multiplied.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/isa.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"
#include "model/kernels/s8_order.h"

namespace platen::PLATEN_ISA {

// One turn of an inner loop over fours of k.
constexpr int kFoursPerTurn = 4;

// Lines to fetch, four a turn: one from each of four places, or the next ones of one stream.
struct WeightStream {
  const uint8_t* next = nullptr;  // nullptr: nothing
  ptrdiff_t distance = 0;         // from line to line of a turn
  ptrdiff_t advance = 0;          // from turn to turn

  PLATEN_INLINE void Turn() {
    if (next == nullptr) return;
    if (distance == 64) {
      Lines<_MM_HINT_T1>();
    } else {
      Lines<_MM_HINT_T0>();
    }
    next += advance;
  }

 private:
  template <_mm_hint kInto>
  PLATEN_INLINE void Lines() const {
    Unroll<4>([&](auto line) __attribute__((always_inline)) {
      _mm_prefetch(reinterpret_cast<const char*>(next + line * distance), kInto);
    });
  }
};

// What pass 0 .. 3 over `k` x 64 weights fetches of as many that lie behind them; others nothing.
PLATEN_INLINE WeightStream StreamOf(WeightFetch fetch, const uint8_t* weights, int k, int pass) {
  if (fetch == WeightFetch::kNone || pass >= 4) return {};
  const ptrdiff_t bytes = static_cast<ptrdiff_t>(k) * kPanelColumns;
  if (fetch == WeightFetch::kOneStream) return {weights + bytes + bytes / 4 * pass, 64, 256};
  return {weights + bytes + bytes / 16 * pass, bytes / 4, 64};
}

// turn(0) ... turn(k4 - 1), and the stream moves with every kFoursPerTurn of them.
template <class F>
PLATEN_INLINE void ForTurns(int k4, WeightStream stream, F turn) {
  int i = 0;
  for (; i + kFoursPerTurn <= k4; i += kFoursPerTurn) {
    stream.Turn();
    Unroll<kFoursPerTurn>([&](auto j) __attribute__((always_inline)) { turn(i + j); });
  }
  for (; i < k4; ++i) turn(i);
}

}  // namespace platen::PLATEN_ISA
