#include "model/families/minillm/mtp.h"

#include "model/families/mtp_input.h"
#include "model/ops/norm.h"

namespace platen::minillm {

MtpLayer::MtpLayer(const Config& config, const Weights& weights, const KernelTable& kernels)
    : config_(config),
      weights_(*weights.mtp),
      kernels_(kernels),
      layer_(config, weights, kernels) {}

std::unique_ptr<DraftWorkspace> MtpLayer::MakeWorkspace() const {
  return std::make_unique<MtpWorkspace>();
}

MatView MtpLayer::Begin(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch,
                        const KvPool& pool, MtpWorkspace& ws) const {
  const MatView u = ws.pre_norm.Shaped(batch.num_rows(), config_.hidden_size);
  ApplyMtpInput(kernels_, {weights_.enorm, weights_.hnorm, weights_.eh_proj, config_.norm_eps},
                embeddings, hidden, ws.joined, u, ws.decoder.linear);
  layer_.Begin(batch, pool, ws.decoder);
  return u;
}

void MtpLayer::Forward(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch,
                       KvPool& pool, DraftWorkspace& workspace) const {
  auto& ws = static_cast<MtpWorkspace&>(workspace);
  const MatView u = Begin(embeddings, hidden, batch, pool, ws);
  layer_.Run(weights_.layer, config_.num_layers, batch, pool, u, ws.decoder, {});
  RmsNormRows(kernels_, u, weights_.head_norm, config_.norm_eps, ws.normed.Shaped(u.rows, u.cols));
}

void MtpLayer::FillCache(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch,
                         KvPool& pool, DraftWorkspace& workspace) const {
  auto& ws = static_cast<MtpWorkspace&>(workspace);
  const MatView u = Begin(embeddings, hidden, batch, pool, ws);
  layer_.FillCache(weights_.layer, config_.num_layers, pool, u, ws.decoder);
}

}  // namespace platen::minillm
