#include "model/families/glm_ocr/decoder.h"

#include <functional>

#include "model/families/embed_rows.h"
#include "model/ops/norm.h"
#include "model/ops/rope.h"
#include "model/ops/swiglu.h"

namespace platen::glm_ocr {
DecoderLayerOp::DecoderLayerOp(const TextConfig& config, const KernelTable& kernels)
    : config_(config),
      kernels_(kernels),
      attention_({config.num_heads, config.num_kv_heads, config.head_dim}, kernels,
                 kernels.rope_adjacent),
      inverse_frequencies_(InverseFrequencies(config.rope_theta, config.head_dim)) {}

void DecoderLayerOp::Begin(const RowBatch& batch, const KvPool& pool, DecoderWorkspace& ws) const {
  const int64_t rows = batch.num_rows();
  FillMropeTables(inverse_frequencies_, config_.mrope_section,
                  {batch.positions[0], batch.positions[1], batch.positions[2]},
                  ws.attention.cos.Shaped(rows, config_.head_dim),
                  ws.attention.sin.Shaped(rows, config_.head_dim));
  attention_.Begin(batch, pool, ws.attention);
}

void DecoderLayerOp::Run(const DecoderLayerWeights& w, int cache_layer, const RowBatch& batch,
                         KvPool& pool, MatView x, DecoderWorkspace& ws) const {
  const int64_t rows = batch.num_rows();
  const float eps = config_.rms_norm_eps;
  MatView branch = ws.branch.Shaped(rows, config_.hidden_size);

  // h = x + post_self_attn_layernorm(attention(input_layernorm(x)))
  attention_.ReserveQueries(rows, ws.attention);
  const auto scatter = [&](const Linear::Piece& piece) {
    attention_.Scatter(cache_layer, pool, piece, ws.attention);
  };
  // By reference: a function that owns its captures takes memory in every layer of every round.
  w.qkv.ApplyInPieces(kernels_, {x, w.input_layernorm, eps}, config_.head_dim, std::cref(scatter),
                      ws.linear);
  attention_.Attend(cache_layer, batch, pool, ws.attention);
  w.o_proj.Apply(kernels_, ws.attention.attention_out.View(), branch, ws.linear);
  AddRmsNormRows(kernels_, branch, w.post_self_attn_layernorm, eps, x);

  // y = h + post_mlp_layernorm(down(silu(gate) * up)),  gate, up of post_attention_layernorm(h)
  ApplySwiGlu(kernels_, w.gate_up, w.down, {x, w.post_attention_layernorm, eps}, branch, ws.linear);
  AddRmsNormRows(kernels_, branch, w.post_mlp_layernorm, eps, x);
}

void DecoderLayerOp::FillCache(const DecoderLayerWeights& w, int cache_layer, const RowBatch& batch,
                               KvPool& pool, ConstMatView x, DecoderWorkspace& ws) const {
  // Queries come first. They are left out if keys begin with a panel of weights.
  const int64_t queries = config_.q_size();
  const int64_t left_out = queries % w.qkv.shape().panel_columns() == 0 ? queries : 0;
  if (left_out == 0) attention_.ReserveQueries(batch.num_rows(), ws.attention);
  const auto scatter = [&](const Linear::Piece& piece) {
    attention_.Scatter(cache_layer, pool,
                       {piece.first_row, left_out + piece.first_column, piece.values},
                       ws.attention);
  };
  w.qkv.ColumnsFrom(left_out).ApplyInPieces(kernels_, {x, w.input_layernorm, config_.rms_norm_eps},
                                            config_.head_dim, std::cref(scatter), ws.linear);
}

Decoder::Decoder(const TextConfig& config, const TextWeights& weights, const KernelTable& kernels)
    : config_(config), weights_(weights), kernels_(kernels), layer_(config, kernels) {}

void Decoder::Embed(std::span<const TokenId> ids, MatView x) const {
  EmbedRows(weights_.embed_tokens, ids, x);
}

std::unique_ptr<Workspace> Decoder::MakeWorkspace() const {
  return std::make_unique<DecoderWorkspace>();
}

void Decoder::Forward(const RowBatch& batch, KvPool& pool, MatView x, Workspace& workspace,
                      const Observer& observer) const {
  auto& ws = static_cast<DecoderWorkspace&>(workspace);
  layer_.Begin(batch, pool, ws);
  for (int i = 0; i < config_.num_layers; ++i) {
    layer_.Run(weights_.layers[static_cast<size_t>(i)], i, batch, pool, x, ws);
    if (observer) observer("layer" + std::to_string(i), x);
  }
  RmsNormRows(kernels_, x, weights_.norm, config_.rms_norm_eps, x);
  if (observer) observer("hidden", x);
}

void Decoder::Logits(ConstMatView hidden, MatView logits, Workspace& workspace) const {
  weights_.lm_head.Apply(kernels_, hidden, logits, workspace.linear);
}

}  // namespace platen::glm_ocr
