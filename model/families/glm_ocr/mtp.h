// The multi-token-prediction layer that drafts tokens for speculative decoding.
//
// Slot i takes the target's hidden vector of row i (after the final norm) and the embedding of
// token i + 1, and predicts token i + 2:
//   z = eh_proj(concat(enorm(e), hnorm(h)));  u = layer(z);  n = shared_head.norm(u);  lm_head(n)
// It uses the target's embedding table and head; its cache is the last plane of the shared blocks.
#pragma once

#include "model/families/draft_model.h"
#include "model/families/glm_ocr/decoder.h"

namespace platen::glm_ocr {

struct MtpWorkspace : DraftWorkspace {
  Mat joined;  // [R, 2D]
  DecoderWorkspace decoder;
};

class MtpLayer final : public DraftModel {
 public:
  // `weights` and `kernels` outlive the layer; the weights may be loaded after it is made.
  MtpLayer(const TextConfig& config, const MtpWeights& weights, const KernelTable& kernels);

  std::unique_ptr<DraftWorkspace> MakeWorkspace() const override;
  void Forward(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch, KvPool& pool,
               DraftWorkspace& workspace) const override;
  void FillCache(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch, KvPool& pool,
                 DraftWorkspace& workspace) const override;

 private:
  // What goes into the layer, in ws.pre_norm.
  MatView Begin(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch,
                const KvPool& pool, MtpWorkspace& ws) const;

  const TextConfig config_;
  const MtpWeights& weights_;
  const KernelTable& kernels_;
  DecoderLayerOp layer_;
};

}  // namespace platen::glm_ocr
