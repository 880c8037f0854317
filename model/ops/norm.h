// Row-wise operations spread over the worker pool.
#pragma once

#include <span>

#include "model/kernels/kernels.h"
#include "model/ops/tensor.h"

namespace platen {

// y[r] = RMSNorm(x[r]) * weight. x may be y.
void RmsNormRows(const KernelTable& kernels, ConstMatView x, std::span<const float> weight,
                 float eps, MatView y);

// x[r] += RMSNorm(branch[r]) * weight: the sandwich norm on a branch's output, then the residual
// addition. `branch` is overwritten.
void AddRmsNormRows(const KernelTable& kernels, MatView branch, std::span<const float> weight,
                    float eps, MatView x);

// y[r] = LayerNorm(x[r]). x may be y.
void LayerNormRows(const KernelTable& kernels, ConstMatView x, std::span<const float> weight,
                   std::span<const float> bias, float eps, MatView y);

// x[r] = GELU(x[r]), the exact one.
void GeluRows(const KernelTable& kernels, MatView x);

// y[r] = GELU(LayerNorm(x[r])).
void LayerNormGeluRows(const KernelTable& kernels, ConstMatView x, std::span<const float> weight,
                       std::span<const float> bias, float eps, MatView y);

}  // namespace platen
