// Where the packed weights of a snapshot may lie.
#pragma once

#include <string>
#include <vector>

#include "model/ops/weight_format.h"

namespace platen {

// The preferred place first: in `packed_dir`, or if that is empty in the snapshot's folder, unless
// that belongs to a hub's cache, and then in $XDG_CACHE_HOME/platen (~/.cache/platen).
std::vector<std::string> PackedPaths(const std::string& packed_dir, const std::string& model_dir,
                                     Precision precision);

}  // namespace platen
