// Weights of a draft layer from a file of their own, in place of the snapshot's.
#pragma once

#include <string>

#include "model/checkpoint/checkpoint.h"
#include "model/checkpoint/module_table.h"

namespace platen {

// Opens a safetensors file that holds every tensor of the table's draft layer under the snapshot's
// names, and nothing else, and sets the layer's members from it. A draft layer can change the speed
// of decoding, never a token. Throws Error(kModel) naming file and tensor: there is no draft layer,
// a tensor is missing, unknown, of another shape, or not finite. The checkpoint that is returned
// must outlive the members.
Checkpoint LoadDraftWeights(const std::string& path, Precision precision, ModuleTable& modules);

}  // namespace platen
