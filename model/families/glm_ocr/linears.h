// Every matrix product of a model, by name.
#pragma once

#include <string>
#include <vector>

#include "model/ops/linear.h"

namespace platen {

class Model;

struct NamedLinear {
  std::string name;  // see ProductNames
  const Linear* linear = nullptr;
};

// In the order of ProductNames. Points into `model`.
std::vector<NamedLinear> ListLinears(const Model& model);

// Memory of all of them.
int64_t PackedWeightBytes(const Model& model);

}  // namespace platen
