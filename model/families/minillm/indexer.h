// The index of sparse attention: which earlier tokens a row attends to.
//
// A row keeps the `kept` keys of the highest score among keys 0 .. its own cache index, of equal
// ones the first; a row with no more than that sees all. Prompt rows, decode rows and verify rows
// are the same thing: the keys lie in planes of the cache, and a score depends on its row and key
// alone.
//
//   kMean       score = mean over heads of q_h k_h / sqrt(Di)
//   kLightning  score = sum over heads of w_h relu(q_h k) / sqrt(Di); k under a layer norm, the
//               first Dr dimensions of both rotated in halves; w = projection of the row / sqrt(Hi)
//
// Source: DeepSeek-V3.2-Exp's report and transformers' DeepseekV32Indexer; MiniLLM's indexer.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/families/minillm/modules.h"
#include "model/families/minillm/rotary_tables.h"
#include "model/ops/latent_attention.h"
#include "model/ops/observer.h"

namespace platen::minillm {

// Buffers of one call; grow to the largest batch and stay.
struct IndexWorkspace {
  Mat queries;  // [R, Hi Di]
  Mat keys;     // [R, Hi Di], or [R, Di]
  Mat weights;  // [R, Hi]
  KeptKeys kept;
  // For comparisons with a reference that takes others of equal keys: sees the scores of a row that
  // does not see all, and what it keeps, and may change that. Called from several threads; may be
  // empty.
  std::function<void(int plane, int64_t row, std::span<const float> scores,
                     std::vector<int32_t>& kept)>
      adjust;
};

// What the index of a layer reads.
struct IndexInput {
  ConstMatView normed;    // [R, D] the input of the attention
  ConstMatView q_latent;  // [R, Rq] its normed query bottleneck, of kLightning
  ConstMatView cos, sin;  // [R, Dr]
  int plane = 0;          // of the cache, for its keys
};

// Immutable; thread-safe with different workspaces and disjoint sequences.
class Indexer {
 public:
  // `kernels` outlives the object.
  Indexer(const Config& config, const KernelTable& kernels) : config_(config), kernels_(kernels) {}

  // What a token keeps for it in a plane of the cache.
  static CachePlane PlaneOf(const IndexConfig& index) {
    return {.heads = index.key_heads(), .key_width = index.width, .value_width = 0};
  }

  // Writes the rows' keys to the cache and finds what each row keeps. `cache_rows` are the batch's.
  void Choose(const IndexWeights& w, const IndexInput& input, const RowBatch& batch,
              const std::vector<CacheRows>& cache_rows, KvPool& pool, IndexWorkspace& ws,
              LinearWorkspace& linear) const;

 private:
  void Project(const IndexWeights& w, const IndexInput& input, IndexWorkspace& ws,
               LinearWorkspace& linear) const;
  void Scores(int64_t row, const RowSlice& slice, int plane, const KvPool& pool,
              const IndexWorkspace& ws, std::vector<float>& scores) const;

  const Config config_;
  const KernelTable& kernels_;
};

}  // namespace platen::minillm
