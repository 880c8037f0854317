// A convolution with the batch norms that follow it, folded into one when weights are loaded.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/module_table.h"
#include "model/ops/conv2d.h"

namespace platen::pp_doclayout {

// A batch norm as stored.
struct StoredNorm {
  std::vector<float> weight, bias, mean, variance;  // [channels]
  float eps = 0;
  std::string name;  // of its tensors, for messages
};

// A kernel as stored, [out, in, k, k], and its batch norm.
struct StoredConv {
  Table kernel;
  StoredNorm norm;
};

// y = conv(x), normed. Before Fold only the stored members mean anything, after it only the folded
// ones: the stored vectors are given up.
struct ConvUnit {
  ConvWindow window;
  StoredConv stored;
  Conv2d folded;
  void Fold();  // throws Error(kModel) for a variance that no batch norm can have
};

// A 3x3 and a 1x1 convolution of the same map, added (RepVGG): one 3x3 convolution.
struct RepUnit {
  StoredConv stored3x3, stored1x1;
  Conv2d folded;
  void Fold();
};

struct DepthwiseUnit {
  ConvWindow window;
  StoredConv stored;
  DepthwiseConv2d folded;
  void Fold();
};

}  // namespace platen::pp_doclayout
