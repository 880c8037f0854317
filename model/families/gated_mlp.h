// Feed-forward networks of two factors: y = down(act(gate x) * up x).
#pragma once

#include "model/ops/linear.h"

namespace platen {

enum class Activation {
  kSilu,   // silu(gate) * up
  kRelu2,  // relu(gate)^2 * up
};

// With Activation::kSilu gate_up gives silu(gate) * up, else both halves.
struct MlpWeights {
  Linear gate_up;  // D -> inner
  Linear down;     // inner -> D
};

// Buffers of one call; grow to the largest batch and stay.
struct GatedMlpWorkspace {
  Mat inner;  // [R, 2 inner], of kRelu2
};

// y [R, D] of rows x [R, D]. A row's result does not depend on the others.
void ApplyMlp(const KernelTable& kernels, Activation activation, const MlpWeights& w,
              ConstMatView x, MatView y, GatedMlpWorkspace& ws, LinearWorkspace& linear);

}  // namespace platen
