#include "bench/operations.h"

#include <algorithm>
#include <numeric>

#include "model/ops/kv_cache.h"

namespace platen::bench {
namespace {

double WeightBytes(double weights, Precision precision) {
  return precision == Precision::kInt8 ? weights : weights * sizeof(float);
}

double Sum(std::span<const int64_t> values) {
  return static_cast<double>(std::accumulate(values.begin(), values.end(), int64_t{0}));
}

// Weights of one decoder layer's linears.
double LayerWeights(const TextConfig& t) {
  const double d = t.hidden_size;
  return d * (t.q_size() + 2 * t.kv_size()) + d * t.q_size() + 3 * d * t.intermediate_size;
}

double HeadWeights(const TextConfig& t) { return double(t.hidden_size) * t.vocab_size; }

// Operations of one query row over so many keys, in all layers.
double AttentionRow(const TextConfig& t, double keys) {
  return 4 * keys * t.q_size() * t.num_layers;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  linear += other.linear;
  attention += other.attention;
  bf16_attention += other.bf16_attention;
  bytes += other.bytes;
  return *this;
}

Work VisionWork(const ModelConfig& config, std::span<const int64_t> patches, Precision precision,
                VisionAttention attention) {
  const VisionConfig& v = config.vision;
  const double c = v.hidden_size;
  const double d = v.out_hidden_size;
  const double patch_weights =
      v.patch_values() * c + v.depth * (4 * c * c + 3 * c * v.intermediate_size);
  const double token_weights = 4 * c * d + d * d + 3 * d * v.merger_intermediate_size();
  const double rows = Sum(patches);
  Work work;
  work.linear = 2 * (rows * patch_weights + rows / 4 * token_weights);
  const bool bf16 = attention != VisionAttention::kF32;
  for (const int64_t p : patches) {
    (bf16 ? work.bf16_attention : work.attention) +=
        4 * static_cast<double>(p) * static_cast<double>(p) * c * v.depth;
  }
  work.bytes = WeightBytes(patch_weights + token_weights, precision);
  return work;
}

Work PrefillWork(const ModelConfig& config, std::span<const int64_t> prompts, Precision precision) {
  const TextConfig& t = config.text;
  const double layers = t.num_layers * LayerWeights(t);
  Work work;
  work.linear = 2 * (Sum(prompts) * layers + static_cast<double>(prompts.size()) * HeadWeights(t));
  for (const int64_t p : prompts) {
    const double pairs = 0.5 * static_cast<double>(p) * static_cast<double>(p + 1);
    work.attention += AttentionRow(t, pairs);
  }
  work.bytes = WeightBytes(layers + HeadWeights(t), precision);
  return work;
}

Work DecodeWork(const ModelConfig& config, std::span<const int64_t> contexts, Precision precision) {
  const TextConfig& t = config.text;
  const double weights = t.num_layers * LayerWeights(t) + HeadWeights(t);
  const double keys = Sum(contexts);
  // The draft layer's part of the cache is not read.
  const double read_layers = static_cast<double>(t.num_layers) / (t.num_layers + t.num_mtp_layers);
  Work work;
  work.linear = 2 * static_cast<double>(contexts.size()) * weights;
  work.attention = AttentionRow(t, keys);
  work.bytes = WeightBytes(weights, precision) +
               keys * read_layers * static_cast<double>(KvPool::TokenBytes(t, KvTypeOf(precision)));
  return work;
}

Limit LimitOf(const Work& work, const Peaks& peaks, Precision precision) {
  const double linear_gops = precision == Precision::kInt8 ? peaks.int8_gops : peaks.f32_gflops;
  Limit limit;
  // Without an instruction for bf16, its products are done in f32.
  const double bf16_gflops = std::max(peaks.bf16_gflops, peaks.f32_gflops);
  limit.compute_s = 1e-9 * (work.linear / linear_gops + work.attention / peaks.f32_gflops +
                            work.bf16_attention / bf16_gflops);
  if (work.bytes > peaks.cache_bytes && peaks.dram_gbytes_per_s > 0)
    limit.memory_s = 1e-9 * work.bytes / peaks.dram_gbytes_per_s;
  return limit;
}

}  // namespace platen::bench
