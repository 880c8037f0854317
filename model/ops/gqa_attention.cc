#include "model/ops/gqa_attention.h"

#include <algorithm>
#include <cmath>

#include "model/ops/parallel.h"
#include "model/support/ceil_div.h"

namespace platen {
namespace {

// Queries of one attention task: up to 16 rows of a slice with all query heads of a KV head, so
// that they share the loads of its pages.
constexpr int64_t kMaxRowsPerTask = 16;
constexpr int64_t kMaxQueriesPerTask = kMaxQueryGroup;
constexpr int64_t kMostSharing = 64;  // slices of a task

// Keys of whole splits for which two slices name the same blocks, up to `most`.
int64_t SharedKeys(const RowSlice& a, const RowSlice& b, int block_tokens, int64_t most) {
  const auto blocks = static_cast<std::ptrdiff_t>(
      std::min({most, a.first_index + 1, b.first_index + 1}) / block_tokens);
  const auto first = a.blocks->begin();
  const auto alike = std::mismatch(first, first + blocks, b.blocks->begin()).first - first;
  return alike * block_tokens / kKeySplit * kKeySplit;
}

// The slices from s on that have one row each and share their first keys, as chains that draft from
// neighbouring tokens do. Where there is nothing to share, one slice and no keys.
GqaWorkspace::AttentionTask SharingFrom(int64_t s, const RowBatch& batch, int block_tokens) {
  GqaWorkspace::AttentionTask task = {.slice = s};
  const RowSlice& first = batch.slices[static_cast<size_t>(s)];
  const auto slices = static_cast<int64_t>(batch.slices.size());
  int64_t keys = first.num_rows == 1 ? first.first_index + 1 : 0;
  for (int64_t next = s + 1; next < slices && task.num_slices < kMostSharing; ++next) {
    const RowSlice& other = batch.slices[static_cast<size_t>(next)];
    keys = other.num_rows == 1 ? SharedKeys(first, other, block_tokens, keys) : 0;
    if (keys == 0) break;
    task.shared_keys = keys;
    ++task.num_slices;
  }
  return task;
}

// Pages of one head of the slice's blocks from `first_block` on.
void AddPages(const RowSlice& slice, int64_t first_block, int plane, int head, const KvPool& pool,
              GqaWorkspace& ws) {
  const int64_t blocks = pool.BlocksFor(slice.first_index + slice.num_rows);
  for (int64_t b = first_block; b < blocks; ++b) {
    const BlockId block = (*slice.blocks)[static_cast<size_t>(b)];
    ws.key_pages.push_back(pool.Keys(block, plane, head));
    ws.value_pages.push_back(pool.Values(block, plane, head));
  }
}

}  // namespace

GqaAttention::GqaAttention(const GqaShape& shape, const KernelTable& kernels, Rotate rotate)
    : shape_(shape), kernels_(kernels), rotate_(rotate) {}

void GqaAttention::Begin(const RowBatch& batch, const KvPool& pool, GqaWorkspace& ws) const {
  FindCacheRows(batch, pool.block_tokens(), ws.cache_rows);
}

void GqaAttention::ReserveQueries(int64_t rows, GqaWorkspace& ws) const {
  ws.queries.Resize(shape_.num_heads * rows, shape_.head_dim);
}

void GqaAttention::Scatter(int plane, KvPool& pool, const Linear::Piece& piece,
                           GqaWorkspace& ws) const {
  const int64_t d = shape_.head_dim;
  const int64_t end = piece.first_row + piece.values.rows;
  auto task =
      std::ranges::upper_bound(ws.cache_rows, piece.first_row, {}, &CacheRows::first_row) - 1;
  for (int64_t row = piece.first_row; row < end; ++task) {
    const int64_t at = row - task->first_row;
    const int64_t count = std::min(task->num_rows - at, end - row);
    const CacheRows part = {task->block, task->block_offset + static_cast<int>(at), row, count};
    const MatView rows = piece.values.Rows(row - piece.first_row, count);
    for (int64_t column = 0; column < rows.cols; column += d) {
      const auto head = static_cast<int>((piece.first_column + column) / d);
      ScatterHead(plane, pool, part, head, rows.Columns(column, d), ws);
    }
    row += count;
  }
}

// Heads of q come first, then those of k, then those of v.
void GqaAttention::ScatterHead(int plane, KvPool& pool, const CacheRows& task, int head,
                               MatView rows, GqaWorkspace& ws) const {
  const int d = shape_.head_dim;
  const auto rotate = [&](int64_t i, float* x) {
    const int64_t row = task.first_row + i;
    rotate_(ws.cos.View().Row(row), ws.sin.View().Row(row), d, x);
  };
  if (head < shape_.num_heads) {
    const int64_t all_rows = ws.cos.rows();
    float* q = ws.queries.data() + (head * all_rows + task.first_row) * d;
    for (int64_t i = 0; i < rows.rows; ++i, q += d) {
      std::copy_n(rows.Row(i), d, q);
      rotate(i, q);
    }
    return;
  }
  const TokenRows tokens = {rows.data, rows.stride, static_cast<int>(rows.rows)};
  const int kv_head = (head - shape_.num_heads) % shape_.num_kv_heads;
  if (head < shape_.num_heads + shape_.num_kv_heads) {
    for (int64_t i = 0; i < rows.rows; ++i) rotate(i, rows.Row(i));
    pool.WriteKeys(kernels_, task.block, plane, kv_head, task.block_offset, tokens);
  } else {
    pool.WriteValues(kernels_, task.block, plane, kv_head, task.block_offset, tokens);
  }
}

void GqaAttention::PlanTasks(int plane, const RowBatch& batch, const KvPool& pool,
                             GqaWorkspace& ws) const {
  ws.key_pages.clear();
  ws.value_pages.clear();
  ws.tasks.clear();
  const auto slices = static_cast<int64_t>(batch.slices.size());
  for (int64_t s = 0; s < slices;) {
    const GqaWorkspace::AttentionTask shared = SharingFrom(s, batch, pool.block_tokens());
    if (shared.num_slices > 1) {
      PlanShared(shared, plane, batch, pool, ws);
    } else {
      PlanSlice(s, plane, batch, pool, ws);
    }
    s += shared.num_slices;
  }
}

void GqaAttention::PlanSlice(int64_t s, int plane, const RowBatch& batch, const KvPool& pool,
                             GqaWorkspace& ws) const {
  const int64_t group = shape_.num_heads / shape_.num_kv_heads;
  const int64_t rows_per_task = std::min(kMaxRowsPerTask, kMaxQueriesPerTask / group);
  const RowSlice& slice = batch.slices[static_cast<size_t>(s)];
  const int64_t heads = HeadsPerTask(batch, slice);
  for (int head = 0; head < shape_.num_kv_heads; head += static_cast<int>(heads)) {
    const int64_t num_heads = std::min(heads, int64_t{shape_.num_kv_heads} - head);
    const auto first_page = static_cast<int64_t>(ws.key_pages.size());
    AddPages(slice, 0, plane, head, pool, ws);
    for (int64_t row = 0; row < slice.num_rows; row += rows_per_task) {
      ws.tasks.push_back(
          {s, head, num_heads, row, std::min(rows_per_task, slice.num_rows - row), first_page});
    }
  }
}

void GqaAttention::PlanShared(const GqaWorkspace::AttentionTask& shared, int plane,
                              const RowBatch& batch, const KvPool& pool, GqaWorkspace& ws) const {
  const int64_t blocks = shared.shared_keys / pool.block_tokens();
  for (int head = 0; head < shape_.num_kv_heads; ++head) {
    GqaWorkspace::AttentionTask& task = ws.tasks.emplace_back(shared);
    task.head = head;
    task.num_rows = 1;
    task.first_page = static_cast<int64_t>(ws.key_pages.size());
    const RowSlice& first = batch.slices[static_cast<size_t>(shared.slice)];
    AddPages(first, 0, plane, head, pool, ws);
    for (int64_t s = 1; s < shared.num_slices; ++s) {
      AddPages(batch.slices[static_cast<size_t>(shared.slice + s)], blocks, plane, head, pool, ws);
    }
  }
}

// How many KV heads a task takes: several where that reads the cache faster and the rows are few,
// but not so many that workers have nothing to do.
int64_t GqaAttention::HeadsPerTask(const RowBatch& batch, const RowSlice& slice) const {
  constexpr int64_t kTasksPerThread = 2;
  const int64_t all = shape_.num_kv_heads;
  const int64_t rows = slice.num_rows * (shape_.num_heads / all);
  if (!kernels_.heads_together) return 1;
  const int threads = ParallelThreads();
  const int64_t wanted = threads == 1 ? 1 : threads * kTasksPerThread;
  const int64_t parts = CeilDiv(wanted, static_cast<int64_t>(batch.slices.size()));
  return std::clamp(kMaxHeadRows / rows, int64_t{1}, CeilDiv(all, std::min(all, parts)));
}

void GqaAttention::Attend(int plane, const RowBatch& batch, const KvPool& pool,
                          GqaWorkspace& ws) const {
  PlanTasks(plane, batch, pool, ws);
  ws.attention_out.Resize(batch.num_rows(), int64_t{shape_.num_heads} * shape_.head_dim);
  ParallelFor(static_cast<int64_t>(ws.tasks.size()), [&](int64_t index) {
    const GqaWorkspace::AttentionTask& task = ws.tasks[static_cast<size_t>(index)];
    if (task.num_slices > 1) {
      RunShared(task, plane, batch, pool, ws);
    } else {
      RunTask(task, plane, batch, pool, ws);
    }
  });
}

AttentionJob GqaAttention::JobOf(const GqaWorkspace::AttentionTask& task, int plane,
                                 const KvPool& pool, const GqaWorkspace& ws) const {
  AttentionJob job;
  job.type = pool.type();
  job.k_pages = ws.key_pages.data() + task.first_page;
  job.v_pages = ws.value_pages.data() + task.first_page;
  job.page_tokens = pool.block_tokens();
  job.head_dim = shape_.head_dim;
  job.v_stride = pool.pages(plane).value_stride;
  job.scale = 1.0F / std::sqrt(static_cast<float>(shape_.head_dim));
  return job;
}

// The query heads of one KV head, of all slices.
void GqaAttention::RunShared(const GqaWorkspace::AttentionTask& task, int plane,
                             const RowBatch& batch, const KvPool& pool, GqaWorkspace& ws) const {
  constexpr int64_t kMost = 16;  // query heads of a KV head; more go in parts
  const int d = shape_.head_dim;
  const int64_t group = shape_.num_heads / shape_.num_kv_heads;
  const float* q[kMostSharing * kMost];
  float* out[kMostSharing * kMost];
  int32_t context[kMostSharing * kMost];
  const void* const* own_keys[kMostSharing * kMost];
  const void* const* own_values[kMostSharing * kMost];
  AttentionJob job = JobOf(task, plane, pool, ws);
  job.q = q;
  job.out = out;
  job.context = context;
  job.shared_keys = static_cast<int>(task.shared_keys);
  job.own_k_pages = own_keys;
  job.own_v_pages = own_values;
  for (int64_t part = 0; part < group; part += kMost) {
    const int64_t heads = std::min(kMost, group - part);
    int64_t page = task.first_page + task.shared_keys / pool.block_tokens();
    job.rows = 0;
    for (int64_t s = task.slice; s < task.slice + task.num_slices; ++s) {
      const RowSlice& slice = batch.slices[static_cast<size_t>(s)];
      for (int64_t head = task.head * group + part, end = head + heads; head < end; ++head) {
        const auto i = static_cast<size_t>(job.rows++);
        q[i] = ws.queries.data() + (head * batch.num_rows() + slice.first_row) * d;
        out[i] = ws.attention_out.View().Row(slice.first_row) + head * d;
        context[i] = static_cast<int32_t>(slice.first_index + 1);
        own_keys[i] = ws.key_pages.data() + page;
        own_values[i] = ws.value_pages.data() + page;
      }
      page += pool.BlocksFor(slice.first_index + 1) - task.shared_keys / pool.block_tokens();
    }
    kernels_.attention(job);
  }
}

// Query heads h * group .. of KV head h are rows of the same job.
void GqaAttention::RunTask(const GqaWorkspace::AttentionTask& task, int plane,
                           const RowBatch& batch, const KvPool& pool, GqaWorkspace& ws) const {
  const int d = shape_.head_dim;
  const int group = shape_.num_heads / shape_.num_kv_heads;
  const RowSlice& slice = batch.slices[static_cast<size_t>(task.slice)];
  const float* q[kMaxQueriesPerTask];
  float* out[kMaxQueriesPerTask];
  int32_t context[kMaxQueriesPerTask];
  int rows = 0;
  for (int64_t kv_head = task.head; kv_head < task.head + task.num_heads; ++kv_head) {
    for (int64_t j = 0; j < task.num_rows; ++j) {
      const int64_t row = slice.first_row + task.first_row + j;
      for (int g = 0; g < group; ++g, ++rows) {
        const int64_t head = kv_head * group + g;
        q[rows] = ws.queries.data() + (head * batch.num_rows() + row) * d;
        out[rows] = ws.attention_out.View().Row(row) + head * d;
        context[rows] = static_cast<int32_t>(slice.first_index + task.first_row + j + 1);
      }
    }
  }
  AttentionJob job = JobOf(task, plane, pool, ws);
  job.rows = rows / static_cast<int>(task.num_heads);
  job.q = q;
  job.context = context;
  job.out = out;
  if (task.num_heads == 1) {
    kernels_.attention(job);
  } else {
    const PageShape& pages = pool.pages(plane);
    kernels_.attention_heads(
        {job, static_cast<int>(task.num_heads), pages.key_bytes(), pages.value_bytes()});
  }
}

}  // namespace platen
