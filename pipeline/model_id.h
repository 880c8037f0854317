// A name for a model's exact contents.
#pragma once

#include <string>

#include "model/families/model.h"

namespace platen {

// Hash of everything in the snapshot that results depend on: configuration, tokenizer, and every
// tensor's name, type, shape and bytes. Independent of where the folder lies and of how the tensors
// are spread over files. Reads all weights once unless they were packed in an earlier run.
std::string ModelId(const Model& model);

}  // namespace platen
