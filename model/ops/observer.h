// Watching intermediate results, for goldens and `platen forward --dump`.
#pragma once

#include <functional>
#include <string>

#include "model/ops/tensor.h"

namespace platen {

// Called with a stage's name ("vision_block0", "layer3", "hidden", ...) and its rows, which are
// valid only during the call. An empty function costs nothing.
using Observer = std::function<void(const std::string& name, ConstMatView rows)>;

}  // namespace platen
