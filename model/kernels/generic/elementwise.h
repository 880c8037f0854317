// Elementwise operations and rotary position embedding over F32x16.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/activations.h"
#include "model/kernels/generic/lanes.h"

namespace platen::PLATEN_ISA {

inline void GeluInPlace(float* x, size_t n) {
  for (size_t i = 0; i < n; i += 16) {
    const int left = n - i >= 16 ? 16 : static_cast<int>(n - i);
    StoreFirst(Gelu(LoadFirst(x + i, left)), x + i, left);
  }
}

inline void AddTo(const float* y, size_t n, float* x) {
  for (size_t i = 0; i < n; i += 16) {
    const int left = n - i >= 16 ? 16 : static_cast<int>(n - i);
    StoreFirst(Add(LoadFirst(x + i, left), LoadFirst(y + i, left)), x + i, left);
  }
}

inline void ToBf16(const float* x, int n, uint16_t* out) {
  int i = 0;
  for (; i + 16 <= n; i += 16) StoreBf16(Load(x + i), out + i);
  if (i == n) return;
  uint16_t last[16];
  StoreBf16(LoadFirst(x + i, n - i), last);
  for (int j = 0; i + j < n; ++j) out[i + j] = last[j];
}

// out[2i] = x[2i] cos - x[2i+1] sin;  out[2i+1] = x[2i+1] cos + x[2i] sin
inline void RopeAdjacent(const float* cos, const float* signed_sin, int n, float* x) {
  for (int i = 0; i < n; i += 16) {
    const F32x16 v = LoadFirst(x + i, n - i);
    const F32x16 rotated = Mul(SwapPairs(v), LoadFirst(signed_sin + i, n - i));
    StoreFirst(Fma(v, LoadFirst(cos + i, n - i), rotated), x + i, n - i);
  }
}

// out[i] = x[i] cos - x[i+h] sin;  out[i+h] = x[i+h] cos + x[i] sin,  h = n / 2
inline void RopeHalf(const float* cos, const float* sin, int n, float* x) {
  const int half = n / 2;
  for (int i = 0; i < half; i += 16) {
    const int left = half - i < 16 ? half - i : 16;
    const F32x16 c = LoadFirst(cos + i, left);
    const F32x16 s = LoadFirst(sin + i, left);
    const F32x16 a = LoadFirst(x + i, left);
    const F32x16 b = LoadFirst(x + half + i, left);
    StoreFirst(Fma(a, c, Mul(b, Sub(Set1(0.0F), s))), x + i, left);
    StoreFirst(Fma(b, c, Mul(a, s)), x + half + i, left);
  }
}

}  // namespace platen::PLATEN_ISA
