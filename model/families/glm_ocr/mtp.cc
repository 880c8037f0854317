#include "model/families/glm_ocr/mtp.h"

#include <cassert>

#include "model/ops/norm.h"
#include "model/support/error.h"

namespace platen {

MtpConvention ParseMtpConvention(const std::string& name) {
  MtpConvention convention;
  if (name == "default") return convention;
  convention.chain_pre_norm = name == "chain_pre" || name == "vllm_like";
  convention.mask_position0 = name == "mask_position0" || name == "vllm_like";
  convention.image_slots_vision = name == "image_vision";
  convention.shift_rope = name == "rope_shift";
  if (convention.chain_pre_norm || convention.mask_position0 || convention.image_slots_vision ||
      convention.shift_rope) {
    return convention;
  }
  throw Error(ErrorKind::kUsage, {.file = {}, .field = "mtp-convention"},
              "unknown name '" + name +
                  "'; known: default, chain_pre, mask_position0, image_vision, rope_shift, "
                  "vllm_like");
}

MtpLayer::MtpLayer(const TextConfig& config, const MtpWeights& weights, const DecoderLayerOp& layer,
                   const KernelTable& kernels)
    : config_(config), weights_(weights), layer_(layer), kernels_(kernels) {}

void MtpLayer::Forward(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch,
                       const KvPool& pool, MtpWorkspace& ws) const {
  const int64_t rows = batch.num_rows();
  const int64_t width = config_.hidden_size;
  assert(embeddings.rows == rows && hidden.rows == rows);

  // z = eh_proj(concat(enorm(e), hnorm(h)))
  MatView joined = ws.joined.Shaped(rows, 2 * width);
  RmsNormRows(kernels_, embeddings, weights_.enorm, config_.rms_norm_eps, joined.Columns(0, width));
  RmsNormRows(kernels_, hidden, weights_.hnorm, config_.rms_norm_eps, joined.Columns(width, width));
  MatView u = ws.u.Shaped(rows, width);
  weights_.eh_proj.Apply(kernels_, joined, u, ws.decoder.linear);

  // u = layer(z);  n = shared_head.norm(u)
  layer_.Begin(batch, pool, ws.decoder);
  layer_.Run(weights_.layer, config_.num_layers, batch, pool, u, ws.decoder);
  RmsNormRows(kernels_, u, weights_.shared_head_norm, config_.rms_norm_eps,
              ws.n.Shaped(rows, width));
}

}  // namespace platen
