// A name for a model's exact contents.
#pragma once

#include <string>

#include "model/families/layout_snapshot.h"
#include "model/families/model.h"

namespace platen {

// Hash of everything in the snapshot that results depend on: configuration, tokenizer, and every
// tensor's name, type, shape and bytes. Independent of where the folder lies and of how the tensors
// are spread over files. Reads all weights once unless they were packed in an earlier run.
std::string ModelId(const Model& model);

// The same of a layout model, which has no tokenizer.
std::string LayoutModelId(const LayoutSnapshot& snapshot);

}  // namespace platen
