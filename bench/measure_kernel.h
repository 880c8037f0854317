// How one row of `platen bench kernels` is measured.
#pragma once

#include <cstdint>
#include <functional>

#include "bench/kernel_bench.h"
#include "model/ops/tensor.h"

namespace platen::bench {

// The limit a row is compared with, in operations per second * 1e-9.
struct PeakMeters {
  std::function<double()> peak;
  std::function<double()> peak_now;  // in the first moments after a load
};

// Fills in the speeds of `row`: `repetitions` times enough calls for about 20 ms, the peak before
// and after each. `operations`: of one call.
KernelRow MeasureKernel(KernelRow row, double operations, int repetitions, const PeakMeters& meters,
                        const std::function<void()>& call);

// Values in [-1, 1], the same for the same seed.
Mat RandomMat(int64_t rows, int64_t cols, uint32_t seed);

}  // namespace platen::bench
