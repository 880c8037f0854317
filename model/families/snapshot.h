// A model folder in Hugging Face layout, loaded and checked as a whole.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/checkpoint.h"
#include "model/families/glm_ocr/config.h"
#include "model/support/error.h"
#include "model/tokenizer/tokenizer.h"

namespace platen {

// Immutable after LoadSnapshot. Everything that reads weights views `checkpoint`.
struct Snapshot {
  std::string dir;
  ModelConfig config;
  Tokenizer tokenizer;
  Checkpoint checkpoint;
  std::vector<std::string> warnings;  // oddities that do not hinder, for the log
};

// One tensor the architecture needs.
struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;
  std::string group;  // "embedding", "head", "decoder", "mtp", "vision", "merger": for `inspect`
};

// Every tensor of the architecture with its shape, derived from the config, in a fixed order.
// The stored MTP copies of embedding and head, and the stored head of a tied model, are optional
// and listed by OptionalTensors.
std::vector<TensorSpec> RequiredTensors(const ModelConfig& config);
std::vector<TensorSpec> OptionalTensors(const ModelConfig& config);

// What is wrong with the tensors of a checkpoint.
struct TensorCheck {
  std::vector<Error> missing;           // required tensors that are not there
  std::vector<Error> mismatched;        // required or optional tensors of another shape
  std::vector<std::string> unexpected;  // names outside the architecture, ascending; harmless
};
TensorCheck CheckTensors(const ModelConfig& config, const Checkpoint& checkpoint,
                         const std::string& dir);

// As the reference does, keeps a stored head that differs from the embedding although the config
// ties the two: tie_word_embeddings becomes false then, and the sentence to tell is returned (empty
// in all other cases). Reads both tables if both are there. Then checks that the quantization plan
// names products of the model as it is now; throws Error(kModel).
std::string ResolveHead(const Checkpoint& checkpoint, const std::string& dir, ModelConfig& config);

// Disagreements between the token ids of the config files and the tokenizer; empty if none.
std::vector<Error> CheckTokens(const ModelConfig& config, const Tokenizer& tokenizer,
                               const std::string& dir);

// Reads the config files, the tokenizer and the checkpoint and checks them against each other:
// required tensors present with the expected shape, a float dtype; special token ids equal in
// config, generation config and tokenizer. Weights are not read: WidenToF32 refuses NaN later.
// Throws Error(kModel) naming file and field or tensor.
Snapshot LoadSnapshot(const std::string& dir);

}  // namespace platen
