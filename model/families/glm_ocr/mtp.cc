#include "model/families/glm_ocr/mtp.h"

#include "model/families/mtp_input.h"
#include "model/ops/norm.h"

namespace platen::glm_ocr {

MtpLayer::MtpLayer(const TextConfig& config, const MtpWeights& weights, const KernelTable& kernels)
    : config_(config), weights_(weights), kernels_(kernels), layer_(config, kernels) {}

std::unique_ptr<DraftWorkspace> MtpLayer::MakeWorkspace() const {
  return std::make_unique<MtpWorkspace>();
}

MatView MtpLayer::Begin(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch,
                        const KvPool& pool, MtpWorkspace& ws) const {
  const MatView u = ws.pre_norm.Shaped(batch.num_rows(), config_.hidden_size);
  ApplyMtpInput(kernels_, {weights_.enorm, weights_.hnorm, weights_.eh_proj, config_.rms_norm_eps},
                embeddings, hidden, ws.joined, u, ws.decoder.linear);
  layer_.Begin(batch, pool, ws.decoder);
  return u;
}

void MtpLayer::Forward(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch,
                       KvPool& pool, DraftWorkspace& workspace) const {
  auto& ws = static_cast<MtpWorkspace&>(workspace);
  const MatView u = Begin(embeddings, hidden, batch, pool, ws);
  layer_.Run(weights_.layer, config_.num_layers, batch, pool, u, ws.decoder);
  RmsNormRows(kernels_, u, weights_.shared_head_norm, config_.rms_norm_eps,
              ws.normed.Shaped(u.rows, u.cols));
}

void MtpLayer::FillCache(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch,
                         KvPool& pool, DraftWorkspace& workspace) const {
  auto& ws = static_cast<MtpWorkspace&>(workspace);
  const MatView u = Begin(embeddings, hidden, batch, pool, ws);
  layer_.FillCache(weights_.layer, config_.num_layers, batch, pool, u, ws.decoder);
}

}  // namespace platen::glm_ocr
