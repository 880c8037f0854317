#include "bench/measure_kernel.h"

#include <algorithm>
#include <random>

#include "bench/spread.h"
#include "model/support/clock.h"

namespace platen::bench {

KernelRow MeasureKernel(KernelRow row, double operations, int repetitions, const PeakMeters& meters,
                        const std::function<void()>& call) {
  call();  // warm up
  const int64_t start_ns = MonotonicNs();
  call();
  const int inner = std::max(1, static_cast<int>(0.02 / std::max(1e-6, SecondsSince(start_ns))));
  std::vector<double> rates, peaks, peaks_now, alone;
  std::optional<bool> busy_before, busy_after;
  for (int i = 0; i < repetitions; ++i) {
    peaks.push_back(meters.peak());
    busy_before = NeighbourIsBusy();
    const int64_t begin_ns = MonotonicNs();
    for (int j = 0; j < inner; ++j) call();
    rates.push_back(operations * inner / SecondsSince(begin_ns) * 1e-9);
    peaks_now.push_back(meters.peak_now());
    peaks.push_back(meters.peak());
    busy_after = NeighbourIsBusy();
    if (busy_before == false && busy_after == false) alone.push_back(rates.back());
  }
  const Spread gops = SpreadOf(rates);
  row.gops = gops.median;
  row.gops_min = gops.min;
  row.gops_max = gops.max;
  row.peak_gops = SpreadOf(peaks).median;
  row.share = row.gops / row.peak_gops;
  row.peak_now_gops = SpreadOf(peaks_now).median;
  row.share_now = row.gops / row.peak_now_gops;
  if (busy_after.has_value()) {
    const double gops_alone = alone.empty() ? 0 : SpreadOf(alone).median;
    row.undisturbed = {static_cast<int>(alone.size()), gops_alone, gops_alone / row.peak_gops};
  }
  return row;
}

Mat RandomMat(int64_t rows, int64_t cols, uint32_t seed) {
  Mat m(rows, cols);
  std::minstd_rand rng(seed);
  for (float& v : m.span()) v = static_cast<float>(rng() % 2001) * 1e-3F - 1.0F;
  return m;
}

}  // namespace platen::bench
