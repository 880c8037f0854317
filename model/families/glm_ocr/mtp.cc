#include "model/families/glm_ocr/mtp.h"

#include "model/families/mtp_input.h"
#include "model/ops/norm.h"

namespace platen::glm_ocr {

MtpLayer::MtpLayer(const TextConfig& config, const MtpWeights& weights, const KernelTable& kernels)
    : config_(config), weights_(weights), kernels_(kernels), layer_(config, kernels) {}

std::unique_ptr<DraftWorkspace> MtpLayer::MakeWorkspace() const {
  return std::make_unique<MtpWorkspace>();
}

void MtpLayer::Forward(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch,
                       KvPool& pool, DraftWorkspace& workspace) const {
  auto& ws = static_cast<MtpWorkspace&>(workspace);
  const int64_t rows = batch.num_rows();
  const int64_t width = config_.hidden_size;
  MatView u = ws.pre_norm.Shaped(rows, width);
  ApplyMtpInput(kernels_, {weights_.enorm, weights_.hnorm, weights_.eh_proj, config_.rms_norm_eps},
                embeddings, hidden, ws.joined, u, ws.decoder.linear);
  layer_.Begin(batch, pool, ws.decoder);
  layer_.Run(weights_.layer, config_.num_layers, batch, pool, u, ws.decoder);
  RmsNormRows(kernels_, u, weights_.shared_head_norm, config_.rms_norm_eps,
              ws.normed.Shaped(rows, width));
}

}  // namespace platen::glm_ocr
