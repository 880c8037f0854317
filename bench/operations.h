// How much work the model's passes are, and the least time the machine could take for it.
//
// Counted from the module table and the sizes of the architecture: a multiply and an add are two
// operations; norms, softmax, rotations and copies are not counted, so the limits are what no
// implementation can pass.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "bench/peaks.h"
#include "model/families/architecture.h"
#include "model/ops/linear.h"
#include "model/ops/work_observer.h"

namespace platen::bench {

struct Work {
  double linear = 0;          // operations of linear layers
  double attention = 0;       // operations of attention in f32: q k^T and its product with v
  double int8_attention = 0;  // the same in exact integers
  double bytes = 0;           // weights, each once a pass, without scales; keys and values read

  Work& operator+=(const Work& other);
};

// What a row of each kind multiplies, and what attention costs.
struct ModelCounts {
  double patch_weights = 0;        // of linears that see every patch
  double image_token_weights = 0;  // of linears that see every image token
  double row_weights = 0;          // of linears that see every row of the decoder
  double head_weights = 0;         // of linears that see the rows that get logits
  // Of linears each of which sees `routed_share` of the decoder's rows: experts. 0: there are none.
  double routed_weights = 0;
  double routed_share = 0;
  double patches_per_token = 1;
  AttentionShape vision_attention;
  AttentionShape text_attention;
  CacheShape cache;  // planes the decoder reads
};
ModelCounts CountsOf(const Architecture& architecture);

// One pass of the encoder over images of so many patches each.
Work VisionWork(const ModelCounts& counts, std::span<const int64_t> patches, Precision precision,
                VisionAttention attention);

// One prefill of prompts of so many tokens each, the head over the last row of each.
Work PrefillWork(const ModelCounts& counts, std::span<const int64_t> prompts, Precision precision);

// Weights that some of so many rows of the decoder read, if each chooses its experts by chance.
double WeightsRead(const ModelCounts& counts, double rows);

// One step of plain decoding: one row for each sequence, which sees so many keys. `weights_read`:
// where it is known from the step itself (WeightsReadMeter); else those of WeightsRead.
Work DecodeWork(const ModelCounts& counts, std::span<const int64_t> contexts, Precision precision,
                std::optional<double> weights_read = {});

// Counts the weights of all products while it lives: of experts those that some row was sent to.
class WeightsReadMeter final : public WorkObserver {
 public:
  WeightsReadMeter() { SetWorkObserver(this); }
  ~WeightsReadMeter() override { SetWorkObserver(nullptr); }
  void OnGemm(const GemmCall& call, int64_t, int64_t) override { weights_ += call.n * call.k; }
  void OnLoopBody(uint64_t, int64_t, int64_t) override {}

  double weights() const { return static_cast<double>(weights_); }

 private:
  std::atomic<int64_t> weights_ = 0;
};

// The time of the work if every linear layer ran at the peak of its precision, attention at that of
// its arithmetic, and memory at its full rate beside them. What fits the last-level cache is
// taken to be there. Wall time of the cores the peaks were measured on.
struct Limit {
  double compute_s = 0;
  double memory_s = 0;

  double seconds() const { return compute_s > memory_s ? compute_s : memory_s; }
  const char* bound() const { return compute_s > memory_s ? "compute" : "memory"; }
};
// Of one pass.
Limit LimitOf(const Work& work, const Peaks& peaks, Precision precision);

}  // namespace platen::bench
