// Names of the matrix products of the architecture, as platen.json's K-groups call them.
#pragma once

#include <string>
#include <vector>

namespace platen {

struct ModelConfig;

// In the order in which the weights are loaded. A product of one tensor has the tensor's name
// without
// ".weight"; tensors that are multiplied together share a name: q_proj, k_proj and v_proj are
// "qkv", gate_proj and up_proj are "gate_up".
std::vector<std::string> ProductNames(const ModelConfig& config);

}  // namespace platen
