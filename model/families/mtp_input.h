// What the draft layers of several families begin with: the embedding of the next token and the
// target's hidden vector, each under a norm of its own, projected to one vector.
#pragma once

#include <span>

#include "model/ops/linear.h"
#include "model/ops/tensor.h"

namespace platen {

struct MtpInputWeights {
  std::span<const float> enorm, hnorm;  // [D]
  const Linear& projection;             // 2D -> D; the embedding half comes first
  float eps = 0;
};

// out [R, D] = projection(concat(enorm(embeddings), hnorm(hidden))). `joined` is a buffer.
void ApplyMtpInput(const KernelTable& kernels, const MtpInputWeights& w, ConstMatView embeddings,
                   ConstMatView hidden, Mat& joined, MatView out, LinearWorkspace& ws);

}  // namespace platen
