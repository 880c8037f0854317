#include "bench/attention_bench.h"

#include <algorithm>
#include <cmath>

#include "bench/measure_kernel.h"
#include "model/ops/encoder_attention.h"
#include "model/ops/kv_cache.h"

namespace platen::bench {
namespace {

// The released model's decoder, as far as its cache is concerned.
constexpr int kLayers = 16;
constexpr int kHeads = 16;
constexpr int kKvHeads = 8;
constexpr int kHeadDim = 128;
constexpr int kBlockTokens = 32;

CacheShape DecoderCache() {
  CacheShape shape;
  shape.planes.assign(kLayers, {kKvHeads, kHeadDim, kHeadDim});
  return shape;
}

// Sequences of `context` tokens each in a cache, and one attention step of all of them.
class DecodeStep {
 public:
  DecodeStep(KvType type, int64_t sequences, int64_t context)
      : context_(context),
        pool_(DecoderCache(), type, kBlockTokens,
              sequences * (context + kBlockTokens) * KvPool::TokenBytes(DecoderCache(), type)),
        tables_(static_cast<size_t>(sequences)),
        queries_(RandomMat(sequences, kHeads * kHeadDim, 3)),
        out_(sequences, kHeads * kHeadDim) {
    for (BlockTable& table : tables_) {
      pool_.Take(pool_.BlocksFor(context), table);
      Fill(BestKernels(), table);
    }
  }

  // The layers one after the other, in each all sequences and heads, on this thread.
  void Run(const KernelTable& kernels) {
    for (int layer = 0; layer < kLayers; ++layer) {
      for (size_t s = 0; s < tables_.size(); ++s) {
        const int heads = kernels.heads_together ? kKvHeads : 1;
        for (int head = 0; head < kKvHeads; head += heads) {
          Attend(kernels, layer, s, head, heads);
        }
      }
    }
  }

  // Keys and values read in a step, and the operations of its two products.
  double bytes() const {
    return tokens() * static_cast<double>(KvPool::TokenBytes(DecoderCache(), pool_.type()));
  }
  double operations() const { return 4.0 * tokens() * kHeads * kHeadDim * kLayers; }

 private:
  double tokens() const {
    return static_cast<double>(tables_.size()) * static_cast<double>(context_);
  }

  void Fill(const KernelTable& kernels, const BlockTable& table) {
    const Mat rows = RandomMat(kBlockTokens, kHeadDim, 4);
    const TokenRows tokens = {rows.data(), rows.View().stride, kBlockTokens};
    for (const BlockId block : table) {
      for (int layer = 0; layer < kLayers; ++layer) {
        for (int head = 0; head < kKvHeads; ++head) {
          pool_.WriteKeys(kernels, block, layer, head, 0, tokens);
          pool_.WriteValues(kernels, block, layer, head, 0, tokens);
        }
      }
    }
  }

  void Attend(const KernelTable& kernels, int layer, size_t s, int head, int heads) {
    constexpr int kGroup = 2;  // query heads of a KV head
    int32_t contexts[kMaxHeadRows];
    const float* q[kMaxHeadRows];
    float* out[kMaxHeadRows];
    for (int i = 0; i < heads * kGroup; ++i) {
      const int64_t offset = (head * kGroup + i) * kHeadDim;
      q[i] = queries_.View().Row(static_cast<int64_t>(s)) + offset;
      out[i] = out_.View().Row(static_cast<int64_t>(s)) + offset;
      contexts[i] = static_cast<int32_t>(context_);
    }
    k_pages_.clear();
    v_pages_.clear();
    for (const BlockId block : tables_[s]) {
      k_pages_.push_back(pool_.Keys(block, layer, head));
      v_pages_.push_back(pool_.Values(block, layer, head));
    }
    AttentionJob job;
    job.type = pool_.type();
    job.k_pages = k_pages_.data();
    job.v_pages = v_pages_.data();
    job.page_tokens = kBlockTokens;
    job.head_dim = kHeadDim;
    job.v_stride = pool_.pages(layer).value_stride;
    job.rows = kGroup;
    job.q = q;
    job.scale = 1.0F / std::sqrt(static_cast<float>(kHeadDim));
    job.context = contexts;
    job.out = out;
    if (heads == 1) {
      kernels.attention(job);
    } else {
      kernels.attention_heads(
          {job, heads, pool_.pages(layer).key_bytes(), pool_.pages(layer).value_bytes()});
    }
  }

  int64_t context_;
  KvPool pool_;
  std::vector<BlockTable> tables_;
  Mat queries_, out_;
  std::vector<const void*> k_pages_, v_pages_;
};

}  // namespace

KernelRow BenchVisionAttention(const KernelTable& kernels, VisionAttention attention,
                               int64_t patches, int repetitions) {
  constexpr int kDim = 64;
  const auto encoder = MakeEncoderAttention(kernels, attention, /*num_heads=*/1, kDim);
  const ImageRows image = {0, patches};
  EncoderAttentionMemory memory;
  encoder->Begin({&image, 1}, memory);
  Mat q = RandomMat(patches, kDim, 1), k = RandomMat(patches, kDim, 2);
  Mat v = RandomMat(patches, kDim, 3);
  Mat q_given(patches, kDim), k_given(patches, kDim);
  // As the encoder does it: rows come from the cache and are given up.
  const auto put_copy = [](const Mat& from, Mat& to) {
    std::ranges::copy(from.span(), to.data());
    return to.View();
  };
  KernelRow row;
  row.kernel = std::string(VisionAttentionName(attention)) + " attention";
  row.layer = kVisionHead;
  row.rows = patches;
  row.n = patches;
  row.k = kDim;
  row.bound = "compute";
  const double operations = 4.0 * static_cast<double>(patches * patches) * kDim;
  const bool int8 = attention == VisionAttention::kInt8;
  const auto peak = [&] {
    const Peaks peaks = MeasurePeaks(kernels.name, /*memory=*/false);
    return int8 ? peaks.int8_gops : peaks.f32_gflops;
  };
  const PeakMeters meters = {peak, [&] { return MeasurePeakNow(kernels.name, int8); }};
  return MeasureKernel(row, operations, repetitions, meters, [&] {
    encoder->PutQueries(0, 0, put_copy(q, q_given), memory);
    encoder->PutKeys(0, 0, put_copy(k, k_given), memory);
    encoder->PutValues(0, 0, v.View(), memory);
    encoder->Run(memory);
  });
}

KernelRow BenchDecodeAttention(const KernelTable& kernels, KvType type, int64_t sequences,
                               int64_t context, int repetitions) {
  DecodeStep step(type, sequences, context);
  KernelRow row;
  row.kernel = type == KvType::kF32 ? "f32 cache" : "bf16 cache";
  row.layer = kDecodeStep;
  row.rows = sequences;
  row.n = context;
  row.k = kHeadDim;
  row.bound = "memory";
  const double operations = step.operations();
  MemoryMeter memory(1);
  const PeakMeters meters = {[&] { return memory.GbytesPerSecond() * operations / step.bytes(); },
                             [&] { return MeasurePeakNow(kernels.name, /*int8=*/false); }};
  return MeasureKernel(row, operations, repetitions, meters, [&] { step.Run(kernels); });
}

}  // namespace platen::bench
