#include "model/families/glm_ocr/decoder.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "model/ops/norm.h"
#include "model/ops/parallel.h"
#include "model/ops/rope.h"
#include "model/ops/swiglu.h"
#include "model/support/ceil_div.h"

namespace platen {
namespace {

// Queries of one attention task: up to 16 rows of a slice with all query heads of a KV head, so
// that they share the loads of its pages.
constexpr int64_t kMaxRowsPerTask = 16;
constexpr int64_t kMaxQueriesPerTask = kMaxQueryGroup;

}  // namespace

void RowBatch::Clear() {
  slices.clear();
  for (auto& axis : positions) axis.clear();
}

void RowBatch::AddSlice(const BlockTable& blocks, int64_t first_index, int64_t num_rows) {
  const int64_t first_row = slices.empty() ? 0 : slices.back().first_row + slices.back().num_rows;
  slices.push_back({&blocks, first_row, num_rows, first_index});
}

void RowBatch::PushPosition(int32_t t, int32_t h, int32_t w) {
  positions[0].push_back(t);
  positions[1].push_back(h);
  positions[2].push_back(w);
}

DecoderLayerOp::DecoderLayerOp(const TextConfig& config, const KernelTable& kernels)
    : config_(config),
      kernels_(kernels),
      inverse_frequencies_(InverseFrequencies(config.rope_theta, config.head_dim)) {}

void DecoderLayerOp::Begin(const RowBatch& batch, const KvPool& pool, DecoderWorkspace& ws) const {
  const int64_t rows = batch.num_rows();
  FillMropeTables(inverse_frequencies_, config_.mrope_section,
                  {batch.positions[0], batch.positions[1], batch.positions[2]},
                  ws.cos.Shaped(rows, config_.head_dim), ws.sin.Shaped(rows, config_.head_dim));
  ws.store_tasks.clear();
  for (const RowSlice& slice : batch.slices) {
    for (int64_t row = 0; row < slice.num_rows;) {
      const int64_t index = slice.first_index + row;
      const BlockId block = (*slice.blocks)[static_cast<size_t>(index / pool.block_tokens())];
      const auto place = static_cast<int>(index % pool.block_tokens());
      const int64_t count = std::min<int64_t>(pool.block_tokens() - place, slice.num_rows - row);
      ws.store_tasks.push_back({block, place, slice.first_row + row, count});
      row += count;
    }
  }
}

void DecoderLayerOp::Run(const DecoderLayerWeights& w, int cache_layer, const RowBatch& batch,
                         const KvPool& pool, MatView x, DecoderWorkspace& ws) const {
  const int64_t rows = batch.num_rows();
  const float eps = config_.rms_norm_eps;
  MatView branch = ws.branch.Shaped(rows, config_.hidden_size);

  // h = x + post_self_attn_layernorm(attention(input_layernorm(x)))
  ws.queries.Resize(config_.num_heads * rows, config_.head_dim);
  w.qkv.ApplyInPieces(
      kernels_, {x, w.input_layernorm, eps}, config_.head_dim,
      [&](const Linear::Piece& piece) { TakeHeads(cache_layer, pool, piece, ws); }, ws.linear);
  PlanAttention(cache_layer, batch, pool, ws);
  ws.attention_out.Resize(rows, config_.q_size());
  Attend(batch, pool, ws);
  w.o_proj.Apply(kernels_, ws.attention_out.View(), branch, ws.linear);
  AddRmsNormRows(kernels_, branch, w.post_self_attn_layernorm, eps, x);

  // y = h + post_mlp_layernorm(down(silu(gate) * up)),  gate, up of post_attention_layernorm(h)
  ApplySwiGlu(kernels_, w.gate_up, w.down, {x, w.post_attention_layernorm, eps}, branch, ws.linear);
  AddRmsNormRows(kernels_, branch, w.post_mlp_layernorm, eps, x);
}

// Some heads of q, k and v of some rows, straight from the product.
void DecoderLayerOp::TakeHeads(int cache_layer, const KvPool& pool, const Linear::Piece& piece,
                               DecoderWorkspace& ws) const {
  using Task = DecoderWorkspace::StoreTask;
  const int64_t d = config_.head_dim;
  const int64_t end = piece.first_row + piece.values.rows;
  auto task = std::ranges::upper_bound(ws.store_tasks, piece.first_row, {}, &Task::first_row) - 1;
  for (int64_t row = piece.first_row; row < end; ++task) {
    const int64_t at = row - task->first_row;
    const int64_t count = std::min(task->num_rows - at, end - row);
    const Task part = {task->block, task->place + static_cast<int>(at), row, count};
    const MatView rows = piece.values.Rows(row - piece.first_row, count);
    for (int64_t column = 0; column < rows.cols; column += d) {
      const auto head = static_cast<int>((piece.first_column + column) / d);
      TakeHead(cache_layer, pool, part, head, rows.Columns(column, d), ws);
    }
    row += count;
  }
}

// Heads of q come first, then those of k, then those of v. q and k are rotated, k and v written to
// the cache.
void DecoderLayerOp::TakeHead(int cache_layer, const KvPool& pool,
                              const DecoderWorkspace::StoreTask& task, int head, MatView rows,
                              DecoderWorkspace& ws) const {
  const int d = config_.head_dim;
  const auto rotate = [&](int64_t i, float* x) {
    const int64_t row = task.first_row + i;
    kernels_.rope_adjacent(ws.cos.View().Row(row), ws.sin.View().Row(row), d, x);
  };
  if (head < config_.num_heads) {
    const int64_t all_rows = ws.cos.rows();
    float* q = ws.queries.data() + (head * all_rows + task.first_row) * d;
    for (int64_t i = 0; i < rows.rows; ++i, q += d) {
      std::copy_n(rows.Row(i), d, q);
      rotate(i, q);
    }
    return;
  }
  const TokenRows tokens = {rows.data, rows.stride, static_cast<int>(rows.rows)};
  const int kv_head = (head - config_.num_heads) % config_.num_kv_heads;
  if (head < config_.num_heads + config_.num_kv_heads) {
    for (int64_t i = 0; i < rows.rows; ++i) rotate(i, rows.Row(i));
    pool.WriteKeys(kernels_, task.block, cache_layer, kv_head, task.place, tokens);
  } else {
    pool.WriteValues(kernels_, task.block, cache_layer, kv_head, task.place, tokens);
  }
}

void DecoderLayerOp::PlanAttention(int cache_layer, const RowBatch& batch, const KvPool& pool,
                                   DecoderWorkspace& ws) const {
  ws.key_pages.clear();
  ws.value_pages.clear();
  ws.tasks.clear();
  const int64_t group = config_.num_heads / config_.num_kv_heads;
  const int64_t rows_per_task = std::min(kMaxRowsPerTask, kMaxQueriesPerTask / group);
  for (size_t s = 0; s < batch.slices.size(); ++s) {
    const RowSlice& slice = batch.slices[s];
    const int64_t blocks = pool.BlocksFor(slice.first_index + slice.num_rows);
    const int64_t heads = HeadsPerTask(batch, slice);
    for (int head = 0; head < config_.num_kv_heads; head += static_cast<int>(heads)) {
      const int64_t num_heads = std::min(heads, int64_t{config_.num_kv_heads} - head);
      const auto first_page = static_cast<int64_t>(ws.key_pages.size());
      for (int64_t b = 0; b < blocks; ++b) {
        const BlockId block = (*slice.blocks)[static_cast<size_t>(b)];
        ws.key_pages.push_back(pool.Keys(block, cache_layer, head));
        ws.value_pages.push_back(pool.Values(block, cache_layer, head));
      }
      for (int64_t row = 0; row < slice.num_rows; row += rows_per_task) {
        ws.tasks.push_back({static_cast<int64_t>(s), head, num_heads, row,
                            std::min(rows_per_task, slice.num_rows - row), first_page});
      }
    }
  }
}

// How many KV heads a task takes: several where that reads the cache faster and the rows are few,
// but not so many that workers have nothing to do.
int64_t DecoderLayerOp::HeadsPerTask(const RowBatch& batch, const RowSlice& slice) const {
  constexpr int64_t kTasksPerThread = 2;
  const int64_t all = config_.num_kv_heads;
  const int64_t rows = slice.num_rows * (config_.num_heads / all);
  if (!kernels_.heads_together) return 1;
  const int threads = ParallelThreads();
  const int64_t wanted = threads == 1 ? 1 : threads * kTasksPerThread;
  const int64_t parts = CeilDiv(wanted, static_cast<int64_t>(batch.slices.size()));
  return std::clamp(kMaxHeadRows / rows, int64_t{1}, CeilDiv(all, std::min(all, parts)));
}

// attention_out[row] = softmax(q k^T / sqrt(d)) v over keys 0 .. cache index of the row. Query
// heads h * group .. of KV head h are rows of the same job.
void DecoderLayerOp::Attend(const RowBatch& batch, const KvPool& pool, DecoderWorkspace& ws) const {
  const int d = config_.head_dim;
  const int group = config_.num_heads / config_.num_kv_heads;
  ParallelFor(static_cast<int64_t>(ws.tasks.size()), [&](int64_t index) {
    const DecoderWorkspace::AttentionTask& task = ws.tasks[static_cast<size_t>(index)];
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
    AttentionJob job;
    job.type = pool.type();
    job.k_pages = ws.key_pages.data() + task.first_page;
    job.v_pages = ws.value_pages.data() + task.first_page;
    job.page_tokens = pool.block_tokens();
    job.head_dim = d;
    job.v_stride = pool.value_stride();
    job.rows = rows / static_cast<int>(task.num_heads);
    job.q = q;
    job.scale = 1.0F / std::sqrt(static_cast<float>(d));
    job.context = context;
    job.out = out;
    if (task.num_heads == 1) {
      kernels_.attention(job);
    } else {
      kernels_.attention_heads(
          {job, static_cast<int>(task.num_heads), pool.key_head_bytes(), pool.value_head_bytes()});
    }
  });
}

Decoder::Decoder(const TextConfig& config, const TextWeights& weights, const KernelTable& kernels)
    : config_(config), weights_(weights), kernels_(kernels), layer_(config, kernels) {}

void Decoder::Embed(std::span<const TokenId> ids, MatView x) const {
  assert(static_cast<int64_t>(ids.size()) == x.rows);
  for (int64_t r = 0; r < x.rows; ++r) {
    const auto width = static_cast<size_t>(x.cols);
    WidenRow(weights_.embed_tokens.tensor, ids[static_cast<size_t>(r)], {x.Row(r), width});
  }
}

void Decoder::Forward(const RowBatch& batch, const KvPool& pool, MatView x, DecoderWorkspace& ws,
                      const Observer& observer) const {
  layer_.Begin(batch, pool, ws);
  for (int i = 0; i < config_.num_layers; ++i) {
    layer_.Run(weights_.layers[static_cast<size_t>(i)], i, batch, pool, x, ws);
    if (observer) observer("layer" + std::to_string(i), x);
  }
}

void Decoder::FinalNorm(ConstMatView x, MatView hidden) const {
  RmsNormRows(kernels_, x, weights_.norm, config_.rms_norm_eps, hidden);
}

void Decoder::Logits(ConstMatView hidden, MatView logits, LinearWorkspace& ws) const {
  weights_.lm_head.Apply(kernels_, hidden, logits, ws);
}

}  // namespace platen
