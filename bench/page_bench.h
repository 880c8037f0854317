// What one page of a fixed workload costs: A4 at 150 dpi in 20 equal crops, 2,200 image tokens, 700
// output tokens, stop tokens ignored. Runs the engine's three stages one after the other on one
// page at a time; reading files, layout and writing are not in it.
#pragma once

#include <vector>

#include "bench/peaks.h"
#include "model/model.h"

namespace platen::bench {

struct PageWorkload {
  int crops = 20;
  int crop_width = 308;  // pixels; 11 x 10 image tokens a crop
  int crop_height = 280;
  int tokens_per_crop = 35;
  int draft_length = 0;  // the batch is full: plain decoding
};

// Times in seconds. With several threads wall and core time differ.
struct PageCost {
  double vision_wall = 0, vision_core = 0;
  double prefill_wall = 0, prefill_core = 0;
  double decode_wall = 0, decode_core = 0;

  double wall() const { return vision_wall + prefill_wall + decode_wall; }
  double core() const { return vision_core + prefill_core + decode_core; }
};

// Multiply-adds of one page times two, from the model's sizes.
struct PageOperations {
  double vision_linear = 0;
  double vision_attention = 0;
  double prefill_linear = 0;  // with the draft layer's warm-up, if drafts are on
  double decode_linear = 0;
  int image_tokens = 0;
};
PageOperations CountOperations(const ModelConfig& config, const PageWorkload& workload);

// Core-seconds if every linear ran at the peak of its precision and attention at the f32 peak.
double LimitSeconds(const PageOperations& operations, const Peaks& peaks, Precision precision);

// One cost per repetition, after one page that is not counted.
std::vector<PageCost> RunPageBench(const Model& model, const PageWorkload& workload,
                                   int repetitions);

}  // namespace platen::bench
