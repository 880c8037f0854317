// Every matrix product of a model, by name.
#pragma once

#include <string>
#include <vector>

#include "model/weights.h"

namespace platen {

class Model;

// Tensors of the checkpoint that are multiplied together, as Linear::Pack stored them.
struct NamedLinear {
  std::vector<std::string> tensors;  // names without ".weight": one, or q/k/v, or gate and up
  const Linear* linear = nullptr;
};

// In the order of the forward pass; the draft layer last. Points into `model`.
std::vector<NamedLinear> ListLinears(const Model& model);

// Memory of all of them.
int64_t PackedWeightBytes(const Model& model);

}  // namespace platen
