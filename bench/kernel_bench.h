// Speed of the kernels at the shapes of a model, as shares of the peaks measured beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/peaks.h"
#include "model/families/reading_config.h"
#include "model/ops/linear.h"

namespace platen::bench {

// The repetitions before and after which NeighbourIsBusy() was false.
struct Undisturbed {
  int repetitions = 0;
  double gops = 0;  // their median; 0 if there are none
  double share = 0;
};

// One measurement. The peak is the median of those taken just before and after each repetition.
struct KernelRow {
  std::string kernel;  // "int8 gemm", "f32 gemm", "f32 attention", "bf16 cache", ...
  std::string layer;   // one of KernelBenchLayers()
  // A product's rows x columns x depth; of attention patches, patches and head size; of a decode
  // step sequences, tokens of context and head size.
  int64_t rows = 0, n = 0, k = 0;
  double gops = 0;  // median over repetitions
  double gops_min = 0;
  double gops_max = 0;
  double peak_gops = 0;
  // Of the compute peak or, where the weights come from memory and reading them takes longer than
  // that, of the memory rate.
  double share = 0;
  std::string bound;  // "compute" or "memory"
  // The compute peak in the first moments after each repetition (MeasurePeakNow), and gops / it.
  double peak_now_gops = 0;
  double share_now = 0;
  std::optional<Undisturbed> undisturbed;  // none if that cannot be told
};

struct KernelBenchOptions {
  int repetitions = 5;
  std::vector<int64_t> rows = {1, 4, 8, 16, 32, 64, 256, 1024};
  std::vector<Precision> precisions = {Precision::kInt8, Precision::kF32};
  std::vector<std::string> layers;  // of KernelBenchLayers(); none: all

  bool Wants(const std::string& layer) const;
};

// What can be timed: layers with a product, "vision head" and "decode step".
std::vector<std::string> KernelBenchLayers();

// Shapes of the released GLM-OCR, whatever model is loaded: speeds stay comparable.
std::vector<KernelRow> RunKernelBench(const KernelTable& kernels,
                                      const KernelBenchOptions& options);

}  // namespace platen::bench
