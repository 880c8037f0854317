// Parts of a job of the int8 product, shared by its loops (gemm_s8.h, avx512_vnni.cc, amx_gemm.cc).
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/epilogue.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

// One panel of a job.
struct Panel {
  const uint8_t* weights;  // [k_padded / 4][64][4]
  const float* scales;     // [groups][64]
  const float* bias;       // [64] or nullptr
  int first_column;        // of the panel, in the job's output
  int columns;             // real ones: at most 64, or 32 for kSiluMul
};

PLATEN_INLINE Panel PanelOf(const GemmS8Job& job, int p) {
  const int width = job.epilogue == Epilogue::kSiluMul ? kPanelColumns / 2 : kPanelColumns;
  const int left = job.columns - p * width;
  return {job.panels + static_cast<ptrdiff_t>(p) * job.k_padded * kPanelColumns,
          job.w_scales + static_cast<ptrdiff_t>(p) * job.groups * kPanelColumns,
          job.bias == nullptr ? nullptr : job.bias + p * kPanelColumns, p * width,
          left < width ? left : width};
}

// Bias and epilogue of `rows` finished rows of a panel; `row` is the index of the first in the job.
PLATEN_INLINE void FinishRows(const GemmS8Job& job, const Panel& panel, const float* value, int row,
                              int rows) {
  float* c = job.c + row * job.c_stride + panel.first_column;
  for (int r = 0; r < rows; ++r) {
    FinishRow(value + r * kPanelColumns, panel.bias, job.epilogue, panel.columns,
              c + r * job.c_stride);
  }
}

// Prefetches the output lines of a row, for writing.
PLATEN_INLINE void PrefetchOutput(const GemmS8Job& job, const Panel& panel, int row) {
  const float* c = job.c + row * job.c_stride + panel.first_column;
  for (int i = 0; i < panel.columns; i += 16) __builtin_prefetch(c + i, 1, 3);
}

}  // namespace platen::PLATEN_ISA
