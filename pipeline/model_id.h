// A name for a model's exact contents.
#pragma once

#include <string>

#include "model/snapshot.h"

namespace platen {

// Hash of everything in the snapshot that results depend on: configuration, tokenizer, and every
// tensor's name, type, shape and bytes. Independent of where the folder lies and of how the tensors
// are spread over files. Reads all weights once.
std::string ModelId(const Snapshot& snapshot);

}  // namespace platen
