#include "model/ops/latent_attention.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "model/ops/parallel.h"
#include "model/support/ceil_div.h"

namespace platen {
namespace {

// Query vectors of one task, of all its rows and heads: as many as share a latent while it is in
// the L2 cache.
constexpr int kQueriesPerTask = 64;
// Other memory that is fetched: so many bytes by all tasks, because more would push out of the L2
// cache what was fetched before, and by a task so many for each value of its latents.
constexpr int64_t kMostFetchedBytes = int64_t{1} << 20;
constexpr int64_t kFetchedBytesPerValue = 8;

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
                                const KeptKeys* kept, LatentWorkspace& ws) const {
  ws.pages.clear();
  ws.tasks.clear();
  const auto slices = static_cast<int64_t>(batch.slices.size());
  const int64_t parts = CeilDiv(int64_t{ParallelThreads()}, std::max<int64_t>(1, slices));
  const auto heads =
      static_cast<int>(std::min<int64_t>(CeilDiv(int64_t{shape_.heads}, parts), kQueriesPerTask));
  for (int64_t s = 0; s < slices; ++s) {
    const RowSlice& slice = batch.slices[static_cast<size_t>(s)];
    const auto first_page = static_cast<int64_t>(ws.pages.size());
    const int64_t blocks = pool.BlocksFor(slice.first_index + slice.num_rows);
    for (int64_t b = 0; b < blocks; ++b) {
      ws.pages.push_back(pool.Keys((*slice.blocks)[static_cast<size_t>(b)], plane, /*head=*/0));
    }
    PlanRows(s, first_page, heads, batch, kept, ws);
  }
}

// A row that does not see all has a task of its own.
void LatentAttention::PlanRows(int64_t s, int64_t first_page, int heads, const RowBatch& batch,
                               const KeptKeys* kept, LatentWorkspace& ws) const {
  const RowSlice& slice = batch.slices[static_cast<size_t>(s)];
  const auto sees_all = [&](int64_t row) {
    return kept == nullptr || kept->of_row[static_cast<size_t>(slice.first_row + row)].empty();
  };
  const int64_t most_rows = std::max(1, kQueriesPerTask / heads);
  for (int64_t row = 0; row < slice.num_rows;) {
    int64_t rows = 1;
    while (sees_all(row) && rows < most_rows && row + rows < slice.num_rows &&
           sees_all(row + rows)) {
      ++rows;
    }
    for (int head = 0; head < shape_.heads; head += heads) {
      ws.tasks.push_back({s, row, rows, head, std::min(heads, shape_.heads - head), first_page});
    }
    row += rows;
  }
}

void LatentAttention::Attend(int plane, const RowBatch& batch, const KvPool& pool,
                             LatentWorkspace& ws, const KeptKeys* kept) const {
  PlanTasks(plane, batch, pool, kept, ws);
  ParallelFor(static_cast<int64_t>(ws.tasks.size()),
              [&](int64_t index) { RunTask(static_cast<size_t>(index), batch, pool, kept, ws); });
}

// Copies the kept keys of a sequence to pages of their own; zeros behind the last one.
void LatentAttention::GatherKeys(const LatentWorkspace::Task& task,
                                 const std::vector<int32_t>& kept, const KvPool& pool,
                                 const LatentWorkspace& ws, std::vector<std::byte>& memory,
                                 std::vector<const void*>& pages) const {
  const auto tokens = static_cast<size_t>(pool.block_tokens());
  const bool wide = pool.type() == KvType::kF32;
  // What is copied at a time: one value in f32, a pair in bf16; a row of a page holds one of each.
  constexpr size_t kUnit = 4;
  const size_t rows = static_cast<size_t>(shape_.key_width) / (wide ? 1 : 2);
  const size_t page_bytes = rows * tokens * kUnit;
  memory.assign((kept.size() + tokens - 1) / tokens * page_bytes, std::byte{0});
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto key = static_cast<size_t>(kept[i]);
    const auto* from = static_cast<const std::byte*>(
                           ws.pages[static_cast<size_t>(task.first_page) + key / tokens]) +
                       key % tokens * kUnit;
    std::byte* to = memory.data() + i / tokens * page_bytes + i % tokens * kUnit;
    for (size_t row = 0; row < rows; ++row) {
      std::memcpy(to + row * tokens * kUnit, from + row * tokens * kUnit, kUnit);
    }
  }
  for (size_t at = 0; at < memory.size(); at += page_bytes) pages.push_back(memory.data() + at);
}

// The latents of the next task's sequence, and a share of ws.read_next: as much for each task, as
// far as a task over so many keys has time for it.
ReadNext LatentAttention::NextOf(size_t index, const RowBatch& batch, const KvPool& pool,
                                 int64_t keys, const LatentWorkspace& ws) const {
  ReadNext next;
  const LatentWorkspace::Task& task = ws.tasks[index];
  if (index + 1 < ws.tasks.size() && ws.tasks[index + 1].slice != task.slice) {
    const LatentWorkspace::Task& other = ws.tasks[index + 1];
    const RowSlice& slice = batch.slices[static_cast<size_t>(other.slice)];
    next.pages = ws.pages.data() + other.first_page;
    next.num_pages = static_cast<int>(pool.BlocksFor(slice.first_index + slice.num_rows));
  }
  int64_t total = 0;
  for (const std::span<const std::byte> bytes : ws.read_next) total += std::ssize(bytes);
  const int64_t most = keys * shape_.key_width * kFetchedBytesPerValue;
  const int64_t fetched = std::min(total, kMostFetchedBytes);
  const int64_t share = std::min(CeilDiv(fetched, std::ssize(ws.tasks)), most);
  int64_t first = static_cast<int64_t>(index) * share;
  for (const std::span<const std::byte> bytes : ws.read_next) {
    if (first < std::ssize(bytes)) {
      next.bytes = bytes.data() + first;
      next.num_bytes = std::min(share, std::ssize(bytes) - first);
      break;
    }
    first -= std::ssize(bytes);
  }
  return next;
}

void LatentAttention::RunTask(size_t index, const RowBatch& batch, const KvPool& pool,
                              const KeptKeys* kept, LatentWorkspace& ws) const {
  const LatentWorkspace::Task& task = ws.tasks[index];
  const RowSlice& slice = batch.slices[static_cast<size_t>(task.slice)];
  const float* q[kQueriesPerTask];
  float* out[kQueriesPerTask];
  int32_t context[kQueriesPerTask];
  int queries = 0;
  const auto first = static_cast<size_t>(slice.first_row + task.first_row);
  const std::vector<int32_t>* list =
      kept == nullptr || kept->of_row[first].empty() ? nullptr : &kept->of_row[first];
  for (int64_t j = task.first_row; j < task.first_row + task.num_rows; ++j) {
    const int64_t row = slice.first_row + j;
    for (int head = task.first_head; head < task.first_head + task.num_heads; ++head, ++queries) {
      q[queries] = ws.queries.View().Row(row) + int64_t{head} * shape_.key_width;
      out[queries] = ws.out.View().Row(row) + int64_t{head} * shape_.value_width;
      context[queries] = static_cast<int32_t>(list == nullptr ? slice.first_index + j + 1
                                                              : static_cast<int64_t>(list->size()));
    }
  }
  std::vector<std::byte> memory;
  std::vector<const void*> gathered;
  if (list != nullptr) GatherKeys(task, *list, pool, ws, memory, gathered);
  kernels_.attention_latent(
      {.type = pool.type(),
       .pages = list == nullptr ? ws.pages.data() + task.first_page : gathered.data(),
       .page_tokens = pool.block_tokens(),
       .key_width = shape_.key_width,
       .value_width = shape_.value_width,
       .rows = queries,
       .q = q,
       .scale = shape_.scale,
       .context = context,
       .out = out,
       .next = NextOf(index, batch, pool, *std::max_element(context, context + queries), ws)});
}

}  // namespace platen
