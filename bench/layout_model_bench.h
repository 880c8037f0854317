// Speed of a layout model.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/peaks.h"
#include "bench/spread.h"
#include "model/families/layout_model.h"

namespace platen::bench {

struct LayoutModelRun {
  std::vector<double> seconds;       // of each repetition
  std::vector<double> core_seconds;  // CPU time of the process, all threads
  double gflop = 0;  // a page, in products of linears and dense convolutions: nothing else counts
  Peaks peaks;       // of one core, medians of before and after each repetition
  double share = 0;  // gflop at the f32 peak of one core / core-seconds; 1 is the limit
};

// Pages of seeded random pixels, A4 at 150 dpi, through the model and our rules for boxes; one page
// more goes before, untimed. Call it on the threads that are to work. Watches the process's work.
LayoutModelRun RunLayoutModelBench(const LayoutModel& model, const KernelTable& kernels,
                                   int repetitions);

}  // namespace platen::bench
