#include "model/families/embed_rows.h"
#include "model/ops/norm.h"
#include "model/ops/rope.h"
#include "model/ops/swiglu.h"
#include "tests/model/families/llama/llama.h"

namespace platen::llama {

Decoder::Decoder(const Config& config, const Weights& weights, const KernelTable& kernels)
    : config_(config),
      weights_(weights),
      kernels_(kernels),
      attention_({config.num_heads, config.num_kv_heads, config.head_dim()}, kernels,
                 kernels.rope_adjacent),
      inverse_frequencies_(InverseFrequencies(config.rope_theta, config.head_dim())) {}

std::unique_ptr<Workspace> Decoder::MakeWorkspace() const { return std::make_unique<Buffers>(); }

void Decoder::Embed(std::span<const TokenId> ids, MatView x) const {
  EmbedRows(weights_.embed_tokens, ids, x);
}

void Decoder::Forward(const RowBatch& batch, KvPool& pool, MatView x, Workspace& workspace,
                      const Observer& observer) const {
  auto& buffers = static_cast<Buffers&>(workspace);
  const int64_t rows = batch.num_rows();
  const int d = config_.head_dim();
  FillMropeTables(inverse_frequencies_, {d / 2, 0, 0},
                  {batch.positions[0], batch.positions[1], batch.positions[2]},
                  buffers.attention.cos.Shaped(rows, d), buffers.attention.sin.Shaped(rows, d));
  attention_.Begin(batch, pool, buffers.attention);
  for (int i = 0; i < config_.num_layers; ++i) {
    Layer(weights_.layers[static_cast<size_t>(i)], i, batch, pool, x, buffers);
    if (observer) observer("layer" + std::to_string(i), x);
  }
  RmsNormRows(kernels_, x, weights_.norm, config_.rms_norm_eps, x);
  if (observer) observer("hidden", x);
}

void Decoder::Layer(const LayerWeights& w, int plane, const RowBatch& batch, KvPool& pool,
                    MatView x, Buffers& buffers) const {
  const float eps = config_.rms_norm_eps;
  GqaWorkspace& ws = buffers.attention;
  attention_.ReserveQueries(x.rows, ws);
  w.qkv.ApplyInPieces(
      kernels_, {x, w.input_layernorm, eps}, config_.head_dim(),
      [&](const Linear::Piece& piece) { attention_.Scatter(plane, pool, piece, ws); },
      buffers.linear);
  attention_.Attend(plane, batch, pool, ws);
  w.o_proj.Apply(kernels_, ws.attention_out.View(), x, buffers.linear, Linear::Mode::kAddTo);
  ApplySwiGlu(kernels_, w.gate_up, w.down, {x, w.post_attention_layernorm, eps}, x, buffers.linear,
              Linear::Mode::kAddTo);
}

void Decoder::Logits(ConstMatView hidden, MatView logits, Workspace& workspace) const {
  weights_.lm_head.Apply(kernels_, hidden, logits, workspace.linear);
}

}  // namespace platen::llama
