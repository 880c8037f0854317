// Loops that are unrolled at compile time.
#pragma once

#include <utility>

#include "model/kernels/generic/isa.h"

namespace platen::PLATEN_ISA {

// f(Index<0>{}) ... f(Index<N - 1>{}) as straight-line code: the index is a compile-time constant,
// so arrays indexed by it live in registers. One fold, not recursion: GCC 12 keeps the accumulators
// in registers only if everything is inlined at once.
template <int I>
struct Index {
  constexpr operator int() const { return I; }
};
template <class F, int... I>
[[gnu::always_inline]] inline void UnrollAll(F& f, std::integer_sequence<int, I...>) {
  (f(Index<I>{}), ...);
}
template <int N, class F>
[[gnu::always_inline]] inline void Unroll(F f) {
  UnrollAll(f, std::make_integer_sequence<int, N>{});
}

// f(Index<n>{}) for a run-time n in 1 .. kMost.
template <int kMost, class F>
[[gnu::always_inline]] inline void WithIndex(int n, F f) {
  if (n == kMost) {
    f(Index<kMost>{});
  } else if constexpr (kMost > 1) {
    WithIndex<kMost - 1>(n, f);
  }
}

}  // namespace platen::PLATEN_ISA
