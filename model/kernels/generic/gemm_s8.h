// The int8 product for instruction sets that bring a sum over one group of k (DotProduct): blocks
// of rows, one panel and one group at a time. AVX-512 VNNI and AMX have their own loops.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/int8_job.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/row_blocks.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

// value[64] = fma(float(dots), s_a * s_w, value) for one group; the first group starts from 0.
PLATEN_INLINE void AddScaledDots(const int32_t* dots, float a_scale, const float* w_scales,
                                 bool first, float* value) {
  for (int v = 0; v < 4; ++v) {
    const F32x16 scale = Mul(Set1(a_scale), Load(w_scales + v * 16));
    const F32x16 old = first ? Set1(0.0F) : Load(value + v * 16);
    Store(Fma(ConvertInt32(dots + v * 16), scale, old), value + v * 16);
  }
}

// DotProduct has kRows, the rows of a block, and a function
//   Group(rows, a, a_stride, corrections, correction_stride, panel, k4, prefetch_streams, dots):
// dots[rows][64] = correction of the row + sum of a * u8 weight over k4 fours of k. As many bytes
// of weights that follow may be prefetched, in so many streams (0: not).
template <class DotProduct, int kPrefetchStreams>
void GemmS8(const GemmS8Job& job) {
  constexpr int kRows = DotProduct::kRows;
  alignas(64) float tile[kRows * kPanelColumns];
  alignas(64) int32_t dots[kRows * kPanelColumns];
  const int blocks = (job.rows + kRows - 1) / kRows;
  for (int p = 0; p < job.num_panels; ++p) {
    const Panel panel = PanelOf(job, p);
    for (int i = 0; i < blocks; ++i) {
      const int first = BlockStart(job.rows, blocks, i);
      const int rows = BlockStart(job.rows, blocks, i + 1) - first;
      for (int g = 0; g < job.groups; ++g) {
        const int begin = g * job.group_size;
        const int end =
            begin + job.group_size < job.k_padded ? begin + job.group_size : job.k_padded;
        const ptrdiff_t scales_at = static_cast<ptrdiff_t>(first) * job.groups + g;
        DotProduct::Group(rows, job.a + first * job.a_stride + begin, job.a_stride,
                          job.a_corrections + scales_at, job.groups,
                          panel.weights + static_cast<ptrdiff_t>(begin) * kPanelColumns,
                          (end - begin) / 4, i == 0 ? kPrefetchStreams : 0, dots);
        for (int r = 0; r < rows; ++r) {
          AddScaledDots(dots + r * kPanelColumns, job.a_scales[scales_at + r * job.groups],
                        panel.scales + g * kPanelColumns, g == 0, tile + r * kPanelColumns);
        }
      }
      FinishRows(job, panel, tile, first, rows);
    }
  }
}

template <class DotProduct>
constexpr GemmSchedules kPrefetchSchedules = {{{"1 prefetch stream", 1, GemmS8<DotProduct, 1>},
                                               {"4 prefetch streams", 4, GemmS8<DotProduct, 4>}},
                                              2};

}  // namespace platen::PLATEN_ISA
