// Speed of the whole model's passes, each beside the least time the machine could take.
//
// Three phases: vision (one image of so many patches), prefill (one prompt of so many tokens),
// decode (one step of plain decoding over so many sequences with different prompts of 128 tokens).
// The passes are those of model/engine.h. Before and after every repetition the peaks are measured
// with as many threads; thread counts take turns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/operations.h"
#include "bench/spread.h"
#include "model/families/model.h"

namespace platen::bench {

enum class ModelPhase { kVision, kPrefill, kDecode };
const char* PhaseName(ModelPhase phase);  // "vision", "prefill", "decode"

struct ModelRow {
  ModelPhase phase = ModelPhase::kVision;
  int64_t size = 0;         // patches, prompt tokens or sequences
  int64_t context = 0;      // decode: mean number of keys a row sees
  double weights_read = 0;  // decode: counted in a step; of experts those that some row chose
  int threads = 1;
  Spread seconds;                     // wall time of one pass
  double per_second = 0;              // patches, prompt tokens or generated tokens at the median
  double limit_seconds = 0;           // at the median of the peaks
  std::string bound;                  // what sets the limit: "compute" or "memory"
  double share = 0;                   // of the limit
  Peaks peaks;                        // medians over the row's repetitions
  std::optional<int> busy_neighbour;  // repetitions after which NeighbourIsBusy(); none: not known
};

struct ModelBenchOptions {
  int repetitions = 5;
  std::vector<int> threads = {1};
  std::vector<ModelPhase> phases = {ModelPhase::kVision, ModelPhase::kPrefill, ModelPhase::kDecode};
};

// The sizes asked for: 256, 1024, 4800 patches; 64, 512 tokens; 1, 4, 8, 16, 32 sequences. An image
// that this model would shrink is left out. Works in the arena of the calling thread.
std::vector<ModelRow> RunModelBench(const Model& model, const ModelBenchOptions& options);

}  // namespace platen::bench
