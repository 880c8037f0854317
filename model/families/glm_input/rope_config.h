// The rotary settings of a model in config.json, wherever they stand. Private to this folder's
// sources.
#pragma once

#include <array>

#include "model/support/json_fields.h"

namespace platen::glm_input {

struct TextRope {
  double theta = 0;
  std::array<int, 3> mrope_section = {};  // T, H, W
};

// `model` is text_config or vision_config. The settings are those of rope_parameters, or of
// rope_scaling, an older name that the reference takes in its place if it is there and not empty;
// theta may stand beside them. Refused are settings that this program does not compute, and two
// places that say different things: which one counts differs between programs.
TextRope ReadTextRope(const JsonObject& model, int head_dim);

// Theta of the vision model, 10000 if nothing is said, as in the reference.
double ReadVisionTheta(const JsonObject& model);

}  // namespace platen::glm_input
