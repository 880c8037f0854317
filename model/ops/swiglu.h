// The feed-forward part of every block: down(silu(gate(x)) * up(x)).
#pragma once

#include "model/ops/linear.h"

namespace platen {

// input [rows, k] -> y [rows, n] (+= with kAddTo); gate_up from Linear::PackSiluMul. With int8 and
// many rows the values between the two layers are in memory as bytes only: the same bits. As
// thread-safe as Linear::Apply.
void ApplySwiGlu(const KernelTable& kernels, const Linear& gate_up, const Linear& down,
                 const LinearInput& input, MatView y, LinearWorkspace& ws,
                 Linear::Mode mode = Linear::Mode::kStore);

}  // namespace platen
