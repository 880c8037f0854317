// Where the packed weights of a snapshot, and draft weights that were installed for it, may lie.
#pragma once

#include <string>
#include <vector>

#include "model/ops/weight_format.h"

namespace platen {

// The preferred place first: in `packed_dir`, or if that is empty in the snapshot's folder, unless
// that belongs to a hub's cache, and then in $XDG_CACHE_HOME/platen (~/.cache/platen).
std::vector<std::string> PackedPaths(const std::string& packed_dir, const std::string& model_dir,
                                     Precision precision);

// Where draft weights that were installed for the snapshot may lie, the first that is there being
// used: in `packed_dir`, or if that is empty in $XDG_DATA_HOME/platen (~/.local/share/platen),
// where they are put because they are one user's, and then in the snapshot's folder, for those of
// all.
std::vector<std::string> DraftHeadPaths(const std::string& packed_dir,
                                        const std::string& model_dir);

}  // namespace platen
