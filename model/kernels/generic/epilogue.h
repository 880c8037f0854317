// The epilogue of a product: what happens to finished sums before they are stored.
#pragma once

#include "model/kernels/generic/activations.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

// One finished row of a panel: bias, then the epilogue. `columns` of 64 (32 for kSiluMul) are real.
PLATEN_INLINE void FinishRow(const float* tile, const float* bias, Epilogue epilogue, int columns,
                             float* c) {
  const auto sum = [&](int v) __attribute__((always_inline)) {
    const F32x16 value = Load(tile + v * 16);
    return bias == nullptr ? value : Add(value, Load(bias + v * 16));
  };
  if (epilogue == Epilogue::kSiluMul) {
    Unroll<2>([&](auto v) __attribute__((always_inline)) {
      StoreFirst(Mul(Silu(sum(v)), sum(v + 2)), c + v * 16, columns - v * 16);
    });
    return;
  }
  Unroll<4>([&](auto v) __attribute__((always_inline)) {
    const int left = columns - v * 16;
    if (left <= 0) return;
    F32x16 value = sum(v);
    if (epilogue == Epilogue::kAdd) value = Add(LoadFirst(c + v * 16, left), value);
    if (epilogue == Epilogue::kRelu) value = Max(Set1(0.0F), value);  // keeps NaN
    if (epilogue == Epilogue::kSilu) value = Silu(value);
    StoreFirst(value, c + v * 16, left);
  });
}

}  // namespace platen::PLATEN_ISA
