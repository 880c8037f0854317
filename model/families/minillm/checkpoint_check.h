// What a checkpoint of this family may not hold: forms that this program does not read, and tensors
// that contradict config.json.
#pragma once

#include <string>

#include "model/checkpoint/checkpoint.h"
#include "model/families/minillm/config.h"

namespace platen::minillm {

// True if the experts are stored as two tensors for all of a layer. Throws Error(kModel) naming the
// tensor for adapters that are not merged, FP8 weights, the images of MiniLLM's authors, experts
// stored in both ways, and tensors without which the results would differ although config.json has
// no place for them: experts, shared experts, biases, a correction bias.
bool CheckForms(const Config& config, const Checkpoint& checkpoint);

}  // namespace platen::minillm
