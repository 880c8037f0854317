// Buffers of a forward pass.
#pragma once

#include "model/ops/linear.h"

namespace platen {

// Made by the model that uses it (MakeWorkspace) and given to no other; grows to the largest batch
// and stays. One call at a time.
struct Workspace {
  virtual ~Workspace() = default;
  LinearWorkspace linear;
};

}  // namespace platen
