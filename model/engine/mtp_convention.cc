#include "model/engine/mtp_convention.h"

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

}  // namespace platen
