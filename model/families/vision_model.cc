#include "model/families/vision_model.h"

namespace platen {

VisionAttention AttentionFor(Precision precision) {
  return precision == Precision::kInt8 ? VisionAttention::kInt8 : VisionAttention::kF32;
}

}  // namespace platen
