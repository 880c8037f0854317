// The Hadamard transform of a row over F32x16, up to kMaxHeadDim values.
#pragma once

#include "model/kernels/attention_int8_job.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

static_assert(kMaxHeadDim == 256);

// The stages with both values in one vector, as far as they are shorter than n.
PLATEN_INLINE F32x16 HadamardOf16(F32x16 x, int n) {
  if (n > 1) x = Butterfly<1>(x);
  if (n > 2) x = Butterfly<2>(x);
  if (n > 4) x = Butterfly<4>(x);
  if (n > 8) x = Butterfly<8>(x);
  return x;
}

// 16 kVectors values in registers.
template <int kVectors>
PLATEN_INLINE void HadamardOfVectors(float* x) {
  F32x16 v[kVectors];
  Unroll<kVectors>([&](auto i) __attribute__((always_inline)) {
    v[i] = HadamardOf16(Load(x + i * 16), 16);
  });
  Unroll<4>([&](auto stage) __attribute__((always_inline)) {
    constexpr int kDistance = 1 << stage;  // in vectors
    Unroll<kVectors>([&](auto i) __attribute__((always_inline)) {
      if constexpr ((i & kDistance) == 0 && i + kDistance < kVectors) {
        const F32x16 a = v[i], b = v[i + kDistance];
        v[i] = Add(a, b);
        v[i + kDistance] = Sub(a, b);
      }
    });
  });
  Unroll<kVectors>([&](auto i) __attribute__((always_inline)) { Store(v[i], x + i * 16); });
}

inline void Hadamard(float* x, int n) {
  if (!IsHadamardWidth(n)) return;
  if (n < 16) return StoreFirst(HadamardOf16(LoadFirst(x, n), n), x, n);
  if (n == 16) return HadamardOfVectors<1>(x);
  if (n == 32) return HadamardOfVectors<2>(x);
  if (n == 64) return HadamardOfVectors<4>(x);
  if (n == 128) return HadamardOfVectors<8>(x);
  if (n == 256) return HadamardOfVectors<16>(x);
}

}  // namespace platen::PLATEN_ISA
