#include "model/ops/latent_attention.h"

#include <algorithm>
#include <cassert>

#include "model/ops/parallel.h"
#include "model/support/ceil_div.h"

namespace platen {
namespace {

// Query vectors of one task, of all its rows and heads: as many as share a latent while it is in
// the L2 cache.
constexpr int kQueriesPerTask = 64;

}  // namespace

LatentAttention::LatentAttention(const LatentShape& shape, const KernelTable& kernels)
    : shape_(shape), kernels_(kernels) {
  assert(shape.key_width % 2 == 0 && shape.key_width <= kMaxLatentWidth);
  assert(shape.value_width <= shape.key_width);
}

void LatentAttention::Begin(const RowBatch& batch, const KvPool& pool, LatentWorkspace& ws) const {
  const int64_t rows = batch.num_rows();
  FindCacheRows(batch, pool.block_tokens(), ws.cache_rows);
  ws.latents.Resize(rows, shape_.key_width);
  ws.queries.Resize(rows, int64_t{shape_.heads} * shape_.key_width);
  ws.out.Resize(rows, int64_t{shape_.heads} * shape_.value_width);
}

void LatentAttention::Store(int plane, KvPool& pool, const LatentWorkspace& ws) const {
  const ConstMatView latents = ws.latents.View();
  for (const CacheRows& rows : ws.cache_rows) {
    pool.WriteKeys(kernels_, rows.block, plane, /*head=*/0, rows.block_offset,
                   {latents.Row(rows.first_row), latents.stride, static_cast<int>(rows.num_rows)});
  }
}

// Few rows are split by heads too, so that every thread has something to do; each part then reads
// the latents once more.
void LatentAttention::PlanTasks(int plane, const RowBatch& batch, const KvPool& pool,
                                LatentWorkspace& ws) const {
  ws.pages.clear();
  ws.tasks.clear();
  const auto slices = static_cast<int64_t>(batch.slices.size());
  const int64_t parts = CeilDiv(int64_t{ParallelThreads()}, std::max<int64_t>(1, slices));
  const int heads =
      std::min<int>(static_cast<int>(CeilDiv(int64_t{shape_.heads}, parts)), kQueriesPerTask);
  const int64_t rows_per_task = std::max(1, kQueriesPerTask / heads);
  for (int64_t s = 0; s < slices; ++s) {
    const RowSlice& slice = batch.slices[static_cast<size_t>(s)];
    const auto first_page = static_cast<int64_t>(ws.pages.size());
    const int64_t blocks = pool.BlocksFor(slice.first_index + slice.num_rows);
    for (int64_t b = 0; b < blocks; ++b) {
      ws.pages.push_back(pool.Keys((*slice.blocks)[static_cast<size_t>(b)], plane, /*head=*/0));
    }
    for (int64_t row = 0; row < slice.num_rows; row += rows_per_task) {
      for (int head = 0; head < shape_.heads; head += heads) {
        ws.tasks.push_back({s, row, std::min(rows_per_task, slice.num_rows - row), head,
                            std::min(heads, shape_.heads - head), first_page});
      }
    }
  }
}

void LatentAttention::Attend(int plane, const RowBatch& batch, const KvPool& pool,
                             LatentWorkspace& ws) const {
  PlanTasks(plane, batch, pool, ws);
  ParallelFor(static_cast<int64_t>(ws.tasks.size()), [&](int64_t index) {
    RunTask(ws.tasks[static_cast<size_t>(index)], batch, pool, ws);
  });
}

void LatentAttention::RunTask(const LatentWorkspace::Task& task, const RowBatch& batch,
                              const KvPool& pool, LatentWorkspace& ws) const {
  const RowSlice& slice = batch.slices[static_cast<size_t>(task.slice)];
  const float* q[kQueriesPerTask];
  float* out[kQueriesPerTask];
  int32_t context[kQueriesPerTask];
  int queries = 0;
  for (int64_t j = task.first_row; j < task.first_row + task.num_rows; ++j) {
    const int64_t row = slice.first_row + j;
    for (int head = task.first_head; head < task.first_head + task.num_heads; ++head, ++queries) {
      q[queries] = ws.queries.View().Row(row) + int64_t{head} * shape_.key_width;
      out[queries] = ws.out.View().Row(row) + int64_t{head} * shape_.value_width;
      context[queries] = static_cast<int32_t>(slice.first_index + j + 1);
    }
  }
  kernels_.attention_latent({.type = pool.type(),
                             .pages = ws.pages.data() + task.first_page,
                             .page_tokens = pool.block_tokens(),
                             .key_width = shape_.key_width,
                             .value_width = shape_.value_width,
                             .rows = queries,
                             .q = q,
                             .scale = shape_.scale,
                             .context = context,
                             .out = out});
}

}  // namespace platen
