// platen.json: what a snapshot was trained to read, and how its weights are quantised. Private to
// this folder's sources.
#pragma once

#include <string>

#include "model/families/glm_ocr/config.h"

namespace platen {

// Standard prompts and block granularity if there is no such file.
// Throws Error(kModel) naming file and field; unknown keys are refused, as the format is ours.
ReadingConfig ReadReadingConfig(const std::string& path);

// Its key "int8"; the default groups if there is none. The patterns are not looked at yet: see
// QuantizationPlan::Check. Throws as above.
QuantizationPlan ReadQuantizationPlan(const std::string& path);

}  // namespace platen
