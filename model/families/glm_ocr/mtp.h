// The multi-token-prediction layer that drafts tokens for speculative decoding.
//
// Slot i takes the target's hidden vector of row i (after the final norm) and the embedding of
// token i + 1, and predicts token i + 2:
//   z = eh_proj(concat(enorm(e), hnorm(h)));  u = layer(z);  n = shared_head.norm(u);  lm_head(n)
// It uses the target's embedding table and head; its cache is the last layer of the shared blocks.
#pragma once

#include <string>

#include "model/families/glm_ocr/decoder.h"

namespace platen {

// Points on which implementations of this model family differ. None can change decoded text, only
// how many drafts are accepted.
struct MtpConvention {
  bool chain_pre_norm = false;      // chained drafts get u (before shared_head.norm), not n
  bool mask_position0 = false;      // embedding zeroed where all rope positions are 0
  bool image_slots_vision = false;  // image slots of the prompt use the image embedding, not the
                                    // placeholder token's row
  bool shift_rope = false;          // slot i has the rope position of token i + 1
};

// "default", "chain_pre", "mask_position0", "image_vision", "rope_shift" or "vllm_like" (chain_pre
// and mask_position0). Throws Error(kUsage) for other names, listing these.
MtpConvention ParseMtpConvention(const std::string& name);

struct MtpWorkspace {
  Mat joined;  // [R, 2D]
  Mat u;       // [R, D] before shared_head.norm
  Mat n;       // [R, D] after it: feeds the head
  DecoderWorkspace decoder;
};

// Immutable; Forward is thread-safe with different workspaces and disjoint sequences.
class MtpLayer {
 public:
  MtpLayer(const TextConfig& config, const MtpWeights& weights, const DecoderLayerOp& layer,
           const KernelTable& kernels);

  // embeddings, hidden [R, D]; results in ws.u and ws.n.
  void Forward(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch,
               const KvPool& pool, MtpWorkspace& ws) const;

 private:
  const TextConfig config_;
  const MtpWeights& weights_;
  const DecoderLayerOp& layer_;
  const KernelTable& kernels_;
};

}  // namespace platen
