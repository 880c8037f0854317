// Writes a safetensors file.
#pragma once

#include <map>
#include <span>
#include <string>

#include "model/checkpoint/checkpoint.h"
#include "model/support/folder.h"

namespace platen {

// The tensors in the order given; the file replaces what had the name, at once. Throws
// Error(kEnvironment) if it cannot be written.
void WriteSafetensors(const Folder& folder, const std::string& name,
                      std::span<const StoredTensor> tensors,
                      const std::map<std::string, std::string>& metadata);

}  // namespace platen
