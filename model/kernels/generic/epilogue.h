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
  F32x16 value[4];
  Unroll<4>([&](auto v) __attribute__((always_inline)) {
    value[v] = Load(tile + v * 16);
    if (bias != nullptr) value[v] = Add(value[v], Load(bias + v * 16));
  });
  if (epilogue == Epilogue::kSiluMul) {
    Unroll<2>([&](auto v) __attribute__((always_inline)) {
      StoreFirst(Mul(Silu(value[v]), value[v + 2]), c + v * 16, columns - v * 16);
    });
    return;
  }
  Unroll<4>([&](auto v) __attribute__((always_inline)) {
    const int left = columns - v * 16;
    if (left > 0) {
      if (epilogue == Epilogue::kAdd) value[v] = Add(LoadFirst(c + v * 16, left), value[v]);
      if (epilogue == Epilogue::kRelu) value[v] = Max(Set1(0.0F), value[v]);  // keeps NaN
      if (epilogue == Epilogue::kSilu) value[v] = Silu(value[v]);
      StoreFirst(value[v], c + v * 16, left);
    }
  });
}

}  // namespace platen::PLATEN_ISA
