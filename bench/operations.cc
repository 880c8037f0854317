#include "bench/operations.h"

#include <cmath>
#include <numeric>

#include "model/ops/kv_cache.h"

namespace platen::bench {
namespace {

double WeightBytes(double weights, Precision precision) {
  return precision == Precision::kInt8 ? weights : weights * sizeof(float);
}

// Multiplications of a row in the decoder's layers.
double RowWeights(const ModelCounts& counts) {
  return counts.row_weights + counts.routed_weights * counts.routed_share;
}

double Sum(std::span<const int64_t> values) {
  return static_cast<double>(std::accumulate(values.begin(), values.end(), int64_t{0}));
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  linear += other.linear;
  attention += other.attention;
  int8_attention += other.int8_attention;
  bytes += other.bytes;
  return *this;
}

ModelCounts CountsOf(const Architecture& architecture) {
  ModelCounts counts;
  const ModuleTable modules = architecture.Modules();
  for (const Module& module : modules.modules()) {
    if (!module.is_linear()) continue;
    const auto weights = static_cast<double>(module.num_weights());
    if (module.rows_of == RowsOf::kPatch) counts.patch_weights += weights;
    if (module.rows_of == RowsOf::kImageToken) counts.image_token_weights += weights;
    if (module.rows_of == RowsOf::kToken) {
      (module.share_of_rows < 1 ? counts.routed_weights : counts.row_weights) += weights;
      if (module.share_of_rows < 1) counts.routed_share = module.share_of_rows;
    }
    if (module.rows_of == RowsOf::kLogits) counts.head_weights += weights;
  }
  const TextSizes& text = architecture.text();
  counts.text_attention = text.attention;
  counts.cache.planes.assign(text.cache.planes.begin(),
                             text.cache.planes.begin() + text.num_target_planes);
  if (const VisionSizes* vision = architecture.vision()) {
    counts.patches_per_token = vision->patches_per_token;
    counts.vision_attention = vision->attention;
  }
  return counts;
}

Work VisionWork(const ModelCounts& counts, std::span<const int64_t> patches, Precision precision,
                VisionAttention attention) {
  const double rows = Sum(patches);
  Work work;
  work.linear = 2 * (rows * counts.patch_weights +
                     rows / counts.patches_per_token * counts.image_token_weights);
  const bool int8 = attention == VisionAttention::kInt8;
  for (const int64_t p : patches) {
    (int8 ? work.int8_attention : work.attention) += static_cast<double>(p) *
                                                     static_cast<double>(p) *
                                                     counts.vision_attention.operations_per_key();
  }
  work.bytes = WeightBytes(counts.patch_weights + counts.image_token_weights, precision);
  return work;
}

Work PrefillWork(const ModelCounts& counts, std::span<const int64_t> prompts, Precision precision) {
  Work work;
  work.linear = 2 * (Sum(prompts) * RowWeights(counts) +
                     static_cast<double>(prompts.size()) * counts.head_weights);
  for (const int64_t p : prompts) {
    const double pairs = 0.5 * static_cast<double>(p) * static_cast<double>(p + 1);
    work.attention += pairs * counts.text_attention.operations_per_key();
  }
  work.bytes = WeightBytes(WeightsRead(counts, Sum(prompts)), precision);
  return work;
}

double WeightsRead(const ModelCounts& counts, double rows) {
  const double unread = std::pow(1 - counts.routed_share, rows);
  return counts.row_weights + counts.head_weights + counts.routed_weights * (1 - unread);
}

Work DecodeWork(const ModelCounts& counts, std::span<const int64_t> contexts, Precision precision,
                std::optional<double> weights_read) {
  const auto rows = static_cast<double>(contexts.size());
  const double keys = Sum(contexts);
  Work work;
  work.linear = 2 * rows * (RowWeights(counts) + counts.head_weights);
  work.attention = keys * counts.text_attention.operations_per_key();
  work.bytes = WeightBytes(weights_read.value_or(WeightsRead(counts, rows)), precision) +
               keys * static_cast<double>(KvPool::TokenBytes(counts.cache, KvTypeOf(precision)));
  return work;
}

Limit LimitOf(const Work& work, const Peaks& peaks, Precision precision) {
  const double linear_gops = precision == Precision::kInt8 ? peaks.int8_gops : peaks.f32_gflops;
  Limit limit;
  limit.compute_s = 1e-9 * (work.linear / linear_gops + work.attention / peaks.f32_gflops +
                            work.int8_attention / peaks.int8_gops);
  if (work.bytes > peaks.cache_bytes && peaks.dram_gbytes_per_s > 0)
    limit.memory_s = 1e-9 * work.bytes / peaks.dram_gbytes_per_s;
  return limit;
}

}  // namespace platen::bench
