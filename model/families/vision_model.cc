#include "model/families/vision_model.h"

namespace platen {

const char* VisionAttentionName(VisionAttention attention) {
  switch (attention) {
    case VisionAttention::kF32:
      return "f32";
    case VisionAttention::kBf16:
      return "bf16";
    case VisionAttention::kBf16Dot:
      return "bf16-dot";
  }
  return "";
}

AttentionFunction AttentionOf(const KernelTable& kernels, VisionAttention attention) {
  switch (attention) {
    case VisionAttention::kBf16:
      return kernels.attention_bf16;
    case VisionAttention::kBf16Dot:
      return kernels.attention_bf16_dot;
    case VisionAttention::kF32:
      break;
  }
  return kernels.attention;
}

}  // namespace platen
