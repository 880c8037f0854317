// Where a training from nothing begins.
#pragma once

#include <cstdint>

#include "model/training/parameters.h"

namespace platen {

// Weights for a draft layer or heads that are trained from nothing: norms 1, matrices random; what
// heads add to their input begins at 0.
void Randomise(uint64_t seed, Parameters<float>& parameters);

}  // namespace platen
