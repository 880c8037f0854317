// Points on which programs that run multi-token-prediction layers differ.
#pragma once

#include <string>

namespace platen {

// None can change decoded text, only how many drafts are accepted.
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

}  // namespace platen
