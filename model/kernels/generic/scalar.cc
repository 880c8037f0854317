// The meaning of every kernel: 16 lanes as an array, no instruction set beyond the baseline.
#define PLATEN_SCALAR_LANES  // whatever the flags of the build allow
#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/float_kernels.h"
#include "model/kernels/kernels.h"
#include "model/kernels/tables.h"

namespace platen {
namespace PLATEN_ISA {
namespace {

struct ScalarDotProduct {
  static constexpr int kRows = 4;

  // dots[r][64] = correction of the row + sum of a * u8 weight over k4 fours.
  static void Group(int rows, const int8_t* a, ptrdiff_t a_stride, const int32_t* corrections,
                    int correction_stride, const uint8_t* panel, int k4, int /*prefetch_streams*/,
                    int32_t* dots) {
    for (int r = 0; r < rows; ++r) {
      for (int n = 0; n < kPanelColumns; ++n) {
        int32_t sum = corrections[r * correction_stride];
        for (int i = 0; i < k4; ++i) {
          for (int j = 0; j < 4; ++j) {
            sum += a[r * a_stride + i * 4 + j] * panel[(i * kPanelColumns + n) * 4 + j];
          }
        }
        dots[r * kPanelColumns + n] = sum;
      }
    }
  }

  // As generic/attention_int8.h wants them.
  static void Values(int rows, const uint8_t* p, const int8_t* values, int stride, int keys,
                     int columns, int32_t* sums) {
    for (int r = 0; r < rows; ++r) {
      for (int n = 0; n < columns; ++n) {
        int32_t sum = 0;
        for (int j = 0; j < keys; ++j) {
          sum += p[r * kKeySplit + j] * values[(j / 4 * stride + n) * 4 + j % 4];
        }
        sums[r * kPanelColumns + n] = sum;
      }
    }
  }
};

}  // namespace
}  // namespace PLATEN_ISA

constexpr KernelTable kScalarKernels =
    PLATEN_ISA::FloatKernels<PLATEN_ISA::ScalarDotProduct>("scalar");

}  // namespace platen
