// RMSNorm of training, forward and backward. Source: Zhang and Sennrich, arXiv:1910.07467.
#pragma once

#include "model/training/products.h"

namespace platen {

// y = weight * x / sqrt(mean(x^2) + eps), row by row. y is not x.
template <class T>
void NormRows(ConstView<T> x, const T* weight, T eps, View<T> y);

// Gradients of NormRows: dx is stored or added to; dweight [cols], which may be null, is added to.
// dx may be dy.
template <class T>
void NormGradient(ConstView<T> x, const T* weight, T eps, ConstView<T> dy, View<T> dx, Into into,
                  T* dweight);

}  // namespace platen
