// Grouped-query attention of a batch's rows over the paged cache.
//
// R = rows of a batch, H query heads and Hkv KV heads of d values. A row's key and value go to the
// cache before any row is attended, so that a row sees keys 0 .. its own cache index.
#pragma once

#include <cstdint>
#include <vector>

#include "model/kernels/kernels.h"
#include "model/ops/kv_cache.h"
#include "model/ops/linear.h"
#include "model/ops/row_batch.h"
#include "model/ops/tensor.h"

namespace platen {

// Query heads that may share a KV head.
constexpr int kMaxQueryGroup = 256;

struct GqaShape {
  int num_heads = 0;     // H, a multiple of Hkv
  int num_kv_heads = 0;  // Hkv
  int head_dim = 0;      // d, at most kMaxHeadDim
};

// Buffers of one call; grow to the largest batch and stay.
struct GqaWorkspace {
  Mat cos, sin;                        // [R, d], filled by the caller before Scatter
  Mat queries;                         // [H][R, d], rotated
  Mat attention_out;                   // [R, H d]
  std::vector<const void*> key_pages;  // per call of Attend: of each task in turn
  std::vector<const void*> value_pages;
  struct AttentionTask {
    int64_t slice = 0;
    int64_t head = 0;  // the first
    int64_t num_heads = 1;
    int64_t first_row = 0;  // within the slice
    int64_t num_rows = 0;
    int64_t first_page = 0;  // into key_pages
    // Slices from `slice` on, of one row each, that share their first keys: the pages of those,
    // then the further ones of each slice.
    int64_t num_slices = 1;
    int64_t shared_keys = 0;
  };
  std::vector<AttentionTask> tasks;
  std::vector<CacheRows> cache_rows;  // per batch
};

// Immutable; thread-safe with different workspaces and disjoint sequences.
class GqaAttention {
 public:
  // Rotates one head in place with a row of cos and sin: a member of KernelTable.
  using Rotate = void (*)(const float* cos, const float* sin, int d, float* x);

  // `kernels` outlives the object.
  GqaAttention(const GqaShape& shape, const KernelTable& kernels, Rotate rotate);

  // What all layers share: which rows go to which cache block. Before the first layer of a batch.
  void Begin(const RowBatch& batch, const KvPool& pool, GqaWorkspace& ws) const;

  // Room for the queries of a layer; before its first Scatter.
  void ReserveQueries(int64_t rows, GqaWorkspace& ws) const;

  // Takes a piece of q | k | v [R, (H + 2 Hkv) d] in whole heads: q and k are rotated, k and v
  // written to `plane` of the cache. Changes the piece. Thread-safe for different pieces.
  void Scatter(int plane, KvPool& pool, const Linear::Piece& piece, GqaWorkspace& ws) const;

  // attention_out[row] = softmax(q k^T / sqrt(d)) v over keys 0 .. cache index of the row.
  void Attend(int plane, const RowBatch& batch, const KvPool& pool, GqaWorkspace& ws) const;

 private:
  void ScatterHead(int plane, KvPool& pool, const CacheRows& task, int head, MatView rows,
                   GqaWorkspace& ws) const;
  void PlanTasks(int plane, const RowBatch& batch, const KvPool& pool, GqaWorkspace& ws) const;
  void PlanSlice(int64_t s, int plane, const RowBatch& batch, const KvPool& pool,
                 GqaWorkspace& ws) const;
  void PlanShared(const GqaWorkspace::AttentionTask& shared, int plane, const RowBatch& batch,
                  const KvPool& pool, GqaWorkspace& ws) const;
  int64_t HeadsPerTask(const RowBatch& batch, const RowSlice& slice) const;
  void RunShared(const GqaWorkspace::AttentionTask& task, int plane, const RowBatch& batch,
                 const KvPool& pool, GqaWorkspace& ws) const;
  AttentionJob JobOf(const GqaWorkspace::AttentionTask& task, int plane, const KvPool& pool,
                     const GqaWorkspace& ws) const;
  void RunTask(const GqaWorkspace::AttentionTask& task, int plane, const RowBatch& batch,
               const KvPool& pool, GqaWorkspace& ws) const;

  GqaShape shape_;
  const KernelTable& kernels_;
  Rotate rotate_;
};

}  // namespace platen
