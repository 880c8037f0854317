// Multi-head latent attention of a batch's rows over the paged cache, in its absorbed form.
//
// R = rows of a batch, H heads. A token keeps one latent of `key_width` values for all heads: its
// key, whose first `value_width` values are its value too. Queries come in already multiplied by
// their head's part of the up-projection, results go out before theirs. Prompt rows, decode rows
// and verify rows are the same thing, so they give the same bits.
//
// Source: DeepSeek-AI, DeepSeek-V2, arXiv:2405.04434, section 2.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/kernels/kernels.h"
#include "model/ops/kv_cache.h"
#include "model/ops/row_batch.h"
#include "model/ops/tensor.h"

namespace platen {

// Which latents each row of a batch sees: those listed, ascending, at most its own cache index; or
// all up to it, where the list is empty.
struct KeptKeys {
  std::vector<std::vector<int32_t>> of_row;  // [R]
};

struct LatentShape {
  int heads = 0;
  int key_width = 0;    // even, at most kMaxLatentWidth
  int value_width = 0;  // at most key_width
  float scale = 1;      // of the scores

  // What a token keeps in a plane of the cache.
  CachePlane plane() const { return {.heads = 1, .key_width = key_width, .value_width = 0}; }
};

// Buffers of one call; grow to the largest batch and stay.
struct LatentWorkspace {
  Mat latents;  // [R, key_width], filled by the caller before Store
  Mat queries;  // [R, H key_width], filled by the caller before Attend
  Mat out;      // [R, H value_width]

  struct Task {
    int64_t slice = 0;
    int64_t first_row = 0;  // within the slice
    int64_t num_rows = 0;
    int first_head = 0;
    int num_heads = 0;
    int64_t first_page = 0;  // into pages
  };
  std::vector<Task> tasks;
  // What is read behind attention, in the order in which it may be fetched meanwhile: weights.
  // Filled by the caller before Attend; may be empty.
  std::vector<std::span<const std::byte>> read_next;
  std::vector<const void*> pages;     // per call of Attend: [slices][blocks]
  std::vector<CacheRows> cache_rows;  // per batch
};

// Immutable; thread-safe with different workspaces and disjoint sequences.
class LatentAttention {
 public:
  // `kernels` outlives the object.
  LatentAttention(const LatentShape& shape, const KernelTable& kernels);

  const LatentShape& shape() const { return shape_; }

  // What all layers share. Before the first layer of a batch; sizes the buffers.
  void Begin(const RowBatch& batch, const KvPool& pool, LatentWorkspace& ws) const;
  // Writes the latents of all rows to `plane` of the cache.
  void Store(int plane, KvPool& pool, const LatentWorkspace& ws) const;
  // out[row][head] = softmax(scale q k^T) v over the latents 0 .. cache index of the row, or over
  // those that `kept` lists. What a row sees is copied together where it is not all.
  void Attend(int plane, const RowBatch& batch, const KvPool& pool, LatentWorkspace& ws,
              const KeptKeys* kept = nullptr) const;

 private:
  void PlanTasks(int plane, const RowBatch& batch, const KvPool& pool, const KeptKeys* kept,
                 LatentWorkspace& ws) const;
  void PlanRows(int64_t slice, int64_t first_page, int heads, const RowBatch& batch,
                const KeptKeys* kept, LatentWorkspace& ws) const;
  void RunTask(size_t index, const RowBatch& batch, const KvPool& pool, const KeptKeys* kept,
               LatentWorkspace& ws) const;
  ReadNext NextOf(size_t index, const RowBatch& batch, const KvPool& pool, int64_t keys,
                  const LatentWorkspace& ws) const;
  void GatherKeys(const LatentWorkspace::Task& task, const std::vector<int32_t>& kept,
                  const KvPool& pool, const LatentWorkspace& ws, std::vector<std::byte>& memory,
                  std::vector<const void*>& pages) const;

  LatentShape shape_;
  const KernelTable& kernels_;
};

}  // namespace platen
