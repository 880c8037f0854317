// The options of `platen compare`.
#pragma once

#include "apps/platen/cli/option_table.h"
#include "apps/platen/cli/settings.h"
#include "model/families/vision_model.h"
#include "model/ops/linear.h"

namespace platen {

const OptionTable& CompareOptions();

// One of the two that are compared.
struct CompareSide {
  std::string model;  // folder
  Precision precision = Precision::kF32;
  VisionAttention attention = VisionAttention::kF32;
};

// A and B as --model, --with, --precision and --attention name them. Throws Error(kUsage) if
// both are the same.
struct CompareSides {
  CompareSide a, b;
};
CompareSides SidesFrom(const Settings& settings);

}  // namespace platen
