// The text decoder: rows of any number of sequences through layers with a paged cache.
//
// R = rows of a batch, D = hidden size, H / Hkv query and KV heads of d.
// Source: transformers GlmOcrTextModel (sandwich norms, interleaved M-RoPE, GQA).
#pragma once

#include <span>
#include <vector>

#include "model/families/glm_ocr/modules.h"
#include "model/families/text_model.h"
#include "model/ops/gqa_attention.h"
#include "model/ops/kv_cache.h"
#include "model/ops/observer.h"

namespace platen::glm_ocr {

struct DecoderWorkspace : Workspace {
  GqaWorkspace attention;
  Mat branch;  // [R, D]
};

// One sandwich-norm layer on all rows of a batch; used by the decoder and by the draft layer.
// x [R, D] is the residual stream, updated in place. Keys and values go to plane `cache_layer` of
// `pool`. Begin comes before the first layer of a batch.
class DecoderLayerOp {
 public:
  DecoderLayerOp(const TextConfig& config, const KernelTable& kernels);

  // What all layers share: the batch's rope tables, and which rows go to which cache block.
  void Begin(const RowBatch& batch, const KvPool& pool, DecoderWorkspace& ws) const;
  void Run(const DecoderLayerWeights& w, int cache_layer, const RowBatch& batch, KvPool& pool,
           MatView x, DecoderWorkspace& ws) const;
  // The keys and values alone.
  void FillCache(const DecoderLayerWeights& w, int cache_layer, const RowBatch& batch, KvPool& pool,
                 ConstMatView x, DecoderWorkspace& ws) const;

 private:
  const TextConfig config_;
  const KernelTable& kernels_;
  GqaAttention attention_;
  std::vector<float> inverse_frequencies_;  // [d / 2]
};

class Decoder final : public TextModel {
 public:
  // `weights` and `kernels` outlive the decoder; the weights may be loaded after it is made.
  Decoder(const TextConfig& config, const TextWeights& weights, const KernelTable& kernels);

  std::unique_ptr<Workspace> MakeWorkspace() const override;
  void Embed(std::span<const TokenId> ids, MatView x) const override;
  void Forward(const RowBatch& batch, KvPool& pool, MatView x, Workspace& workspace,
               const Observer& observer) const override;
  void Logits(ConstMatView hidden, MatView logits, Workspace& workspace) const override;

 private:
  const TextConfig config_;
  const TextWeights& weights_;
  const KernelTable& kernels_;
  DecoderLayerOp layer_;
};

}  // namespace platen::glm_ocr
