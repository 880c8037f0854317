// What a page costs, through the whole pipeline, for a workload that is the same for every model:
// A4 pages in 20 equal crops, 35 tokens read from each, stop tokens ignored. At 150 dpi GLM-OCR
// makes 2,200 image tokens of a page.
//
// The pages are gray JPEG files. They are decoded, the layout runs and is then replaced by the 20
// crops, and the results are written and synced to disk: what is measured is `platen ocr`
// (pipeline/run.h) with other tools in two places.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/operations.h"
#include "model/families/model.h"
#include "pipeline/telemetry.h"

namespace platen::bench {

struct PageWorkload {
  int dpi = 150;
  int pages = 4;  // of one run
  int tokens_per_crop = 35;
  int draft_length = 0;  // the batch is full: plain decoding
  // As `platen ocr` does by itself: the limit on tokens is the longest that may come, the cache a
  // share of the memory, and drafts are made while they pay. Else the limit is what is read.
  bool as_ocr = false;
  int slots = 8;  // pages in memory
  int threads = 1;
  std::string trace_path;  // of the last run; empty: none

  static constexpr int kCropColumns = 4;
  static constexpr int kCropRows = 5;
  static constexpr int kCrops = kCropColumns * kCropRows;
};

// Sizes of one page in the model's units.
struct PageShape {
  std::vector<int64_t> patches;  // of each crop
  std::vector<int64_t> prompts;  // tokens, image tokens included
  int64_t image_tokens = 0;
  int64_t output_tokens = 0;
};
PageShape ShapeOf(const Model& model, const PageWorkload& workload);

// One run over `workload.pages` pages. Core-seconds are CPU time.
struct PageRun {
  double wall_s = 0;
  double core_s = 0;
  std::array<double, kNumStages> stage_core_s = {};  // of the threads that ran the stages
  double steps = 0;                                  // of decoding
  double sequences = 0;                              // decoded in a step, mean
  Peaks peaks;  // of one core, the better of before and after the run

  // What no stage accounts for: other threads' tiles, scheduling, the program around.
  double other_core_s() const;
};

// Least core-seconds of one page: the three parts one after the other.
struct PageLimit {
  Limit vision, prefill, decode;
  double seconds() const { return vision.seconds() + prefill.seconds() + decode.seconds(); }
  // If weights cost nothing to read.
  double compute_seconds() const { return vision.compute_s + prefill.compute_s + decode.compute_s; }
};
// The weights are read once a page by vision and by prefill, and by every one of `steps_per_page`
// decoding steps.
PageLimit LimitOfPage(const ModelCounts& counts, const PageShape& shape, double steps_per_page,
                      const Peaks& peaks, Precision precision, VisionAttention attention);

// `repetitions` runs, after one page that is not counted. Writes into a folder of its own below the
// system's temporary folder and removes it. Throws Error(kEnvironment) if it cannot, and if a page
// fails.
std::vector<PageRun> RunPageBench(const Model& model, const PageWorkload& workload,
                                  int repetitions);

}  // namespace platen::bench
