// A model folder in Hugging Face layout, loaded and checked as a whole.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint.h"
#include "model/config.h"
#include "model/tokenizer.h"

namespace platen {

// Immutable after LoadSnapshot. Everything that reads weights views `checkpoint`.
struct Snapshot {
  std::string dir;
  ModelConfig config;
  Tokenizer tokenizer;
  Checkpoint checkpoint;
};

// One tensor the architecture needs.
struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;
  std::string group;  // "embedding", "head", "decoder", "mtp", "vision", "merger": for `inspect`
};

// Every tensor of the architecture with its shape, derived from the config, in a fixed order.
// The stored MTP copies of embedding and head are optional and listed by OptionalTensors.
std::vector<TensorSpec> RequiredTensors(const ModelConfig& config);
std::vector<TensorSpec> OptionalTensors(const ModelConfig& config);

// Reads the config files, the tokenizer and the checkpoint and checks them against each other:
// required tensors present with the expected shape, a float dtype; special token ids equal in
// config, generation config and tokenizer. Throws Error(kModel) naming file and field or tensor.
Snapshot LoadSnapshot(const std::string& dir);

}  // namespace platen
