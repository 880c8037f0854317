// What tests of GLM-OCR need to know of a snapshot beyond the generic architecture.
#pragma once

#include "model/families/glm_ocr/architecture.h"
#include "model/families/model.h"

namespace platen::testing {

inline const glm_ocr::Config& GlmConfig(const Snapshot& snapshot) {
  return dynamic_cast<const glm_ocr::GlmOcr&>(*snapshot.architecture).config();
}
inline const glm_ocr::Config& GlmConfig(const Model& model) { return GlmConfig(model.snapshot()); }

}  // namespace platen::testing
