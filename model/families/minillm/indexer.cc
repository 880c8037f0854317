#include "model/families/minillm/indexer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/ops/norm.h"
#include "model/ops/parallel.h"
#include "model/support/bf16.h"

namespace platen::minillm {
namespace {

constexpr float kKeyNormEps = 1e-6F;

// dots[t] = q k_t of the first `count` keys of a page, summed over the width ascending.
void DotPage(const float* q, const PageShape& shape, const void* page, int count, float* dots) {
  std::fill_n(dots, count, 0.0F);
  for (int d = 0; d < shape.key_width; ++d) {
    if (shape.type == KvType::kF32) {
      const float* keys = static_cast<const float*>(page) + int64_t{d} * shape.tokens;
      for (int t = 0; t < count; ++t) dots[t] += q[d] * keys[t];
    } else {
      const uint16_t* keys =
          static_cast<const uint16_t*>(page) + int64_t{d / 2} * shape.tokens * 2 + d % 2;
      for (int t = 0; t < count; ++t) dots[t] += q[d] * FromBf16(keys[ptrdiff_t{2} * t]);
    }
  }
}

// The places of the `count` highest scores, ascending; of equal ones the first. NaN is the lowest.
void KeepBest(std::vector<float>& scores, int count, std::vector<int32_t>& kept) {
  for (float& score : scores) {
    if (std::isnan(score)) score = -std::numeric_limits<float>::infinity();
  }
  kept.resize(scores.size());
  std::iota(kept.begin(), kept.end(), 0);
  std::nth_element(kept.begin(), kept.begin() + count - 1, kept.end(), [&](int32_t a, int32_t b) {
    const float sa = scores[static_cast<size_t>(a)], sb = scores[static_cast<size_t>(b)];
    return sa > sb || (sa == sb && a < b);
  });
  kept.resize(static_cast<size_t>(count));
  std::sort(kept.begin(), kept.end());
}

}  // namespace

void Indexer::Project(const IndexWeights& w, const IndexInput& input, IndexWorkspace& ws,
                      LinearWorkspace& linear) const {
  const IndexConfig& index = config_.index;
  const bool lightning = index.kind == IndexConfig::Kind::kLightning;
  const int64_t rows = input.normed.rows, width = index.width;
  MatView queries = ws.queries.Shaped(rows, index.heads * width);
  MatView keys = ws.keys.Shaped(rows, index.key_heads() * width);
  w.queries.Apply(kernels_, lightning ? input.q_latent : input.normed, queries, linear);
  w.keys.Apply(kernels_, input.normed, keys, linear);
  if (!lightning) return;
  LayerNormRows(kernels_, keys, w.key_norm, w.key_norm_bias, kKeyNormEps, keys);
  const int rope = config_.rope_width;
  for (int64_t r = 0; r < rows; ++r) {
    const float *cos = input.cos.Row(r), *sin = input.sin.Row(r);
    RotateHalves(cos, sin, rope, keys.Row(r));
    for (int h = 0; h < index.heads; ++h) {
      RotateHalves(cos, sin, rope, queries.Row(r) + h * width);
    }
  }
  MatView weights = ws.weights.Shaped(rows, index.heads);
  w.head_weights.Apply(kernels_, input.normed, weights, linear);
}

// Scores of keys 0 .. the row's cache index.
void Indexer::Scores(int64_t row, const RowSlice& slice, int plane, const KvPool& pool,
                     const IndexWorkspace& ws, std::vector<float>& scores) const {
  const IndexConfig& index = config_.index;
  const bool lightning = index.kind == IndexConfig::Kind::kLightning;
  const PageShape& pages = pool.pages(plane);
  const auto keys = static_cast<int>(slice.first_index + row - slice.first_row + 1);
  const float scale = 1.0F / std::sqrt(static_cast<float>(index.width));
  const auto heads = static_cast<float>(index.heads);
  const float per_head = 1.0F / (lightning ? std::sqrt(heads) : heads);
  scores.assign(static_cast<size_t>(keys), 0.0F);
  std::vector<float> dots(static_cast<size_t>(pages.tokens));
  for (int first = 0; first < keys; first += pages.tokens) {
    const BlockId block = (*slice.blocks)[static_cast<size_t>(first / pages.tokens)];
    const int count = std::min(pages.tokens, keys - first);
    for (int h = 0; h < index.heads; ++h) {
      const float* q = ws.queries.View().Row(row) + int64_t{h} * index.width;
      DotPage(q, pages, pool.Keys(block, plane, lightning ? 0 : h), count, dots.data());
      const float weight = per_head * (lightning ? ws.weights.View().Row(row)[h] : 1.0F);
      for (int t = 0; t < count; ++t) {
        const float dot = dots[static_cast<size_t>(t)];
        scores[static_cast<size_t>(first + t)] +=
            weight * (lightning ? std::max(dot, 0.0F) : dot) * scale;
      }
    }
  }
}

void Indexer::Choose(const IndexWeights& w, const IndexInput& input, const RowBatch& batch,
                     const std::vector<CacheRows>& cache_rows, KvPool& pool, IndexWorkspace& ws,
                     LinearWorkspace& linear) const {
  Project(w, input, ws, linear);
  const MatView keys = ws.keys.View();
  for (const CacheRows& rows : cache_rows) {
    for (int h = 0; h < config_.index.key_heads(); ++h) {
      pool.WriteKeys(kernels_, rows.block, input.plane, h, rows.block_offset,
                     {keys.Row(rows.first_row) + int64_t{h} * config_.index.width, keys.stride,
                      static_cast<int>(rows.num_rows)});
    }
  }
  ws.kept.of_row.resize(static_cast<size_t>(batch.num_rows()));
  for (const RowSlice& slice : batch.slices) {
    ParallelFor(slice.num_rows, [&](int64_t j) {
      std::vector<int32_t>& kept = ws.kept.of_row[static_cast<size_t>(slice.first_row + j)];
      kept.clear();
      if (slice.first_index + j + 1 <= config_.index.kept) return;  // sees all
      std::vector<float> scores;
      Scores(slice.first_row + j, slice, input.plane, pool, ws, scores);
      KeepBest(scores, config_.index.kept, kept);
      if (ws.adjust) ws.adjust(input.plane, slice.first_row + j, scores, kept);
    });
  }
}

}  // namespace platen::minillm
