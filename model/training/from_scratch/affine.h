// Linear layers with a bias, and layer norms, forward and backward. Private to this folder.
#pragma once

#include "model/training/from_scratch/mtp_shape.h"

namespace platen {

// x [R, k] -> y [R, n]
template <class T>
void ApplyAffine(const Affine& affine, const Parameters<T>& p, ConstView<T> x, View<T> y);

// Adds the gradients of weight and bias; dx [R, k] is stored or added to.
template <class T>
void AffineGradient(const Affine& affine, Parameters<T>& p, ConstView<T> x, ConstView<T> dy,
                    View<T> dx, Into into = Into::kStore);

// y = weight * (x - mean) / sqrt(variance + 1e-5) + bias, row by row. Keeps what Backward needs of
// the last Forward.
template <class T>
class LayerNorm {
 public:
  void Forward(const LayerNormShape& shape, const Parameters<T>& p, ConstView<T> x, View<T> y);
  // dx is stored; it may be dy.
  void Backward(const LayerNormShape& shape, Parameters<T>& p, ConstView<T> dy, View<T> dx);

 private:
  Matrix<T> normed_;          // [R, d]
  std::vector<T> deviation_;  // [R]
};

// to += from
template <class T>
void AddRows(ConstView<T> from, View<T> to);

}  // namespace platen
