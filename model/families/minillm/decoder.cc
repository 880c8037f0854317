#include "model/families/minillm/decoder.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

#include "model/families/embed_rows.h"
#include "model/ops/norm.h"
#include "model/support/fixed_math.h"

namespace platen::minillm {
namespace {

// tanh in double, with the same bits everywhere.
double Tanh(double x) { return 2 * FixedSigmoid(2 * x) - 1; }

std::string Named(const char* what, int layer) { return what + std::to_string(layer); }

// For the observer: the kept keys of each row, at most `most`, -1 behind them and where a row sees
// all.
Mat AsRows(const KeptKeys& kept, size_t most) {
  Mat rows(static_cast<int64_t>(kept.of_row.size()), static_cast<int64_t>(most));
  for (int64_t r = 0; r < rows.rows(); ++r) {
    const std::vector<int32_t>& row = kept.of_row[static_cast<size_t>(r)];
    std::fill_n(rows.View().Row(r), most, -1.0F);
    std::transform(row.begin(), row.end(), rows.View().Row(r),
                   [](int32_t key) { return static_cast<float>(key); });
  }
  return rows;
}

}  // namespace

LatentShape LatentShapeOf(const Config& c) {
  const double scale = ScoreFactor(c.rotary) / std::sqrt(static_cast<double>(c.query_width()));
  return {.heads = c.num_heads,
          .key_width = c.latent_width(),
          .value_width = c.kv_rank,
          .scale = static_cast<float>(scale)};
}

CacheShape CacheShapeOf(const Config& c, int* target) {
  CacheShape shape;
  const auto layers = static_cast<size_t>(c.num_layers);
  shape.planes.assign(layers, LatentShapeOf(c).plane());
  if (c.index.kind != IndexConfig::Kind::kNone) {
    shape.planes.insert(shape.planes.end(), layers, Indexer::PlaneOf(c.index));
  }
  *target = static_cast<int>(shape.planes.size());
  if (c.mtp_layers > 0) shape.planes.push_back(LatentShapeOf(c).plane());
  return shape;
}

LayerOp::LayerOp(const Config& config, const Weights& weights, const KernelTable& kernels)
    : config_(config),
      kernels_(kernels),
      rotary_(config, weights.cosines, weights.sines),
      attention_(LatentShapeOf(config), kernels),
      experts_(config, kernels),
      indexer_(config, kernels) {}

void LayerOp::Begin(const RowBatch& batch, const KvPool& pool, DecoderWorkspace& ws) const {
  const int64_t rows = batch.num_rows();
  rotary_.Fill(batch.positions[0], ws.cos.Shaped(rows, config_.rope_width),
               ws.sin.Shaped(rows, config_.rope_width));
  attention_.Begin(batch, pool, ws.attention);
}

// Normalised latent, rotated key, and zero to an even width.
void LayerOp::StoreLatents(const AttentionWeights& w, int layer, MatView latents, KvPool& pool,
                           DecoderWorkspace& ws, const Observer& observer) const {
  const int rank = config_.kv_rank, rope = config_.rope_width;
  MatView stored = ws.attention.latents.View();
  RmsNormRows(kernels_, latents.Columns(0, rank), w.kv_norm, config_.latent_eps,
              stored.Columns(0, rank));
  for (int64_t r = 0; r < stored.rows; ++r) {
    float* key = stored.Row(r) + rank;
    std::copy_n(latents.Row(r) + rank, rope, key);
    rotary_.Rotate(ws.cos.View().Row(r), ws.sin.View().Row(r), key);
    std::fill(key + rope, stored.Row(r) + stored.cols, 0.0F);
  }
  if (observer) observer(Named("latent", layer), stored.Columns(0, rank));
  if (observer) observer(Named("latent_key", layer), stored.Columns(rank, rope));
  attention_.Store(layer, pool, ws.attention);
}

// From queries [R, H (Dn + Dr)]: each head's first Dn values times the transposed key part of its
// up-projection, and the rotated rest.
void LayerOp::MakeQueries(const AttentionWeights& w, DecoderWorkspace& ws) const {
  const int width = config_.query_width(), latent = config_.latent_width();
  const int rank = config_.kv_rank, nope = config_.nope_width, rope = config_.rope_width;
  const MatView queries = ws.queries.View();
  MatView out = ws.attention.queries.View();
  for (int h = 0; h < config_.num_heads; ++h) {
    const MatView head = queries.Columns(h * width, width);
    MatView made = out.Columns(h * latent, latent);
    w.absorb[static_cast<size_t>(h)].Apply(kernels_, head.Columns(0, nope), made.Columns(0, rank),
                                           ws.linear);
    for (int64_t r = 0; r < out.rows; ++r) {
      float* key = made.Row(r) + rank;
      std::copy_n(head.Row(r) + nope, rope, key);
      rotary_.Rotate(ws.cos.View().Row(r), ws.sin.View().Row(r), key);
      std::fill(key + rope, made.Row(r) + latent, 0.0F);
    }
  }
}

const KeptKeys* LayerOp::Choose(const LayerWeights& w, int layer, const RowBatch& batch,
                                KvPool& pool, DecoderWorkspace& ws,
                                const Observer& observer) const {
  if (!w.index) return nullptr;
  MatView q_latent = ws.q_latent.Shaped(batch.num_rows(), config_.q_rank);
  if (config_.q_rank > 0) {
    RmsNormRows(kernels_, ws.input.View().Columns(0, config_.q_rank), w.attention.q_norm,
                config_.latent_eps, q_latent);
  }
  indexer_.Choose(
      *w.index,
      {ws.normed.View(), q_latent, ws.cos.View(), ws.sin.View(), config_.num_layers + layer}, batch,
      ws.attention.cache_rows, pool, ws.index, ws.linear);
  if (observer) {
    const int kept = config_.index.kept < config_.max_positions ? config_.index.kept : 1;
    observer(Named("indexer", layer) + ".kept",
             AsRows(ws.index.kept, static_cast<size_t>(kept)).View());
  }
  return &ws.index.kept;
}

// Weights of which a row needs many bytes come first, because their products wait for memory the
// most: experts, if it is likely that rows choose them.
void LayerOp::NoteReadNext(const LayerWeights& w, int64_t rows, DecoderWorkspace& ws) const {
  std::vector<std::span<const std::byte>>& next = ws.attention.read_next;
  next.clear();
  const auto add = [&](const Linear& linear) { next.push_back(linear.arrays().panels); };
  const auto add_mlp = [&](const MlpWeights& mlp) {
    add(mlp.gate_up);
    add(mlp.down);
  };
  if (w.experts && rows * config_.router.per_token >= 2 * int64_t{config_.router.experts}) {
    for (const MlpWeights& expert : w.experts->experts) add_mlp(expert);
  }
  add(w.attention.output);
  if (w.experts && w.experts->shared) add_mlp(*w.experts->shared);
  if (w.mlp) add_mlp(*w.mlp);
}

MatView LayerOp::Project(const AttentionWeights& w, int layer, ConstMatView x, KvPool& pool,
                         DecoderWorkspace& ws, const Observer& observer) const {
  const MatView input = ws.input.Shaped(x.rows, w.input.columns());
  w.input.Apply(kernels_, x, input, ws.linear);
  const int64_t latents = config_.kv_rank + config_.rope_width;
  StoreLatents(w, layer, input.Columns(input.cols - latents, latents), pool, ws, observer);
  return input;
}

void LayerOp::FillCache(const LayerWeights& w, int layer, KvPool& pool, ConstMatView x,
                        DecoderWorkspace& ws) const {
  assert(!w.index);
  const MatView normed = ws.normed.Shaped(x.rows, x.cols);
  RmsNormRows(kernels_, x, w.input_norm, config_.norm_eps, normed);
  Project(w.attention, layer, normed, pool, ws, {});
}

void LayerOp::Attend(const LayerWeights& layer_weights, int layer, const RowBatch& batch,
                     KvPool& pool, MatView out, DecoderWorkspace& ws,
                     const Observer& observer) const {
  const AttentionWeights& w = layer_weights.attention;
  const int64_t rows = batch.num_rows();
  const int64_t heads = config_.num_heads, values = config_.value_width;
  const int64_t queries = heads * config_.query_width();
  const MatView input = Project(w, layer, ws.normed.View(), pool, ws, observer);
  MatView q = ws.queries.Shaped(rows, queries);
  if (config_.q_rank > 0) {
    w.q_b.Apply(kernels_, {input.Columns(0, config_.q_rank), w.q_norm, config_.latent_eps}, q,
                ws.linear);
  } else {
    for (int64_t r = 0; r < rows; ++r) std::copy_n(input.Row(r), queries, q.Row(r));
  }
  MakeQueries(w, ws);
  const KeptKeys* kept = Choose(layer_weights, layer, batch, pool, ws, observer);
  NoteReadNext(layer_weights, rows, ws);
  attention_.Attend(layer, batch, pool, ws.attention, kept);
  MatView expanded = ws.expanded.Shaped(rows, heads * values);
  const MatView attended = ws.attention.out.View();
  for (int64_t h = 0; h < heads; ++h) {
    w.expand[static_cast<size_t>(h)].Apply(kernels_,
                                           attended.Columns(h * config_.kv_rank, config_.kv_rank),
                                           expanded.Columns(h * values, values), ws.linear);
  }
  w.output.Apply(kernels_, expanded, out, ws.linear);
}

void LayerOp::Add(MatView branch, int layer, MatView x) const {
  const auto scale =
      static_cast<float>(config_.residual_scale * FixedExp(-config_.residual_decay * layer));
  const auto cols = static_cast<size_t>(x.cols);
  for (int64_t r = 0; r < x.rows; ++r) {
    float* row = branch.Row(r);
    if (scale != 1.0F) {
      for (size_t i = 0; i < cols; ++i) row[i] *= scale;
    }
    kernels_.add(row, cols, x.Row(r));
  }
}

void LayerOp::Run(const LayerWeights& w, int layer, const RowBatch& batch, KvPool& pool, MatView x,
                  DecoderWorkspace& ws, const Observer& observer) const {
  const int64_t rows = batch.num_rows();
  MatView normed = ws.normed.Shaped(rows, config_.hidden_size);
  MatView branch = ws.branch.Shaped(rows, config_.hidden_size);
  RmsNormRows(kernels_, x, w.input_norm, config_.norm_eps, normed);
  Attend(w, layer, batch, pool, branch, ws, observer);
  if (observer) observer(Named("attn", layer), branch);
  Add(branch, layer, x);

  RmsNormRows(kernels_, x, w.post_attention_norm, config_.norm_eps, normed);
  if (w.experts) {
    experts_.Apply(*w.experts, normed, branch, layer, observer, ws.mlp, ws.linear);
  } else {
    ApplyMlp(kernels_, config_.activation, *w.mlp, normed, branch, ws.mlp, ws.linear);
  }
  if (observer) observer(Named("mlp", layer), branch);
  Add(branch, layer, x);
}

Decoder::Decoder(const Config& config, const Weights& weights, const KernelTable& kernels)
    : config_(config), weights_(weights), kernels_(kernels), layer_(config, weights, kernels) {}

std::unique_ptr<Workspace> Decoder::MakeWorkspace() const {
  return std::make_unique<DecoderWorkspace>();
}

void Decoder::Embed(std::span<const TokenId> ids, MatView x) const {
  EmbedRows(weights_.embed_tokens, ids, x);
}

void Decoder::Forward(const RowBatch& batch, KvPool& pool, MatView x, Workspace& workspace,
                      const Observer& observer) const {
  auto& ws = static_cast<DecoderWorkspace&>(workspace);
  layer_.Begin(batch, pool, ws);
  for (int i = 0; i < config_.num_layers; ++i) {
    layer_.Run(weights_.layers[static_cast<size_t>(i)], i, batch, pool, x, ws, observer);
    if (observer) observer(Named("layer", i), x);
  }
  RmsNormRows(kernels_, x, weights_.norm, config_.norm_eps, x);
  if (observer) observer("hidden", x);
}

void Decoder::Logits(ConstMatView hidden, MatView logits, Workspace& workspace) const {
  weights_.lm_head.Apply(kernels_, hidden, logits, workspace.linear);
  if (config_.logit_softcap == 0) return;
  const double cap = config_.logit_softcap;
  for (int64_t r = 0; r < logits.rows; ++r) {
    float* row = logits.Row(r);
    for (int64_t i = 0; i < logits.cols; ++i) {
      row[i] = static_cast<float>(cap * Tanh(static_cast<double>(row[i]) / cap));
    }
  }
}

}  // namespace platen::minillm
