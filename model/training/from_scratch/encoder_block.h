// A post-norm encoder layer on sequences of one vector, forward and backward. Private to this
// folder.
#pragma once

#include "model/training/from_scratch/affine.h"

namespace platen {

// a = norm1(x + output(value(x))), y = norm2(a + outer(relu(inner(a)))), on rows x [R, d]. Keeps
// what Backward needs of the last Forward.
template <class T>
class EncoderBlock {
 public:
  void Forward(const EncoderShape& shape, const Parameters<T>& p, ConstView<T> x, View<T> y);
  // dx is stored.
  void Backward(const EncoderShape& shape, Parameters<T>& p, ConstView<T> x, ConstView<T> dy,
                View<T> dx);

 private:
  Matrix<T> value_, attended_;  // [R, d]
  Matrix<T> inner_;             // [R, inner], relu passed
  LayerNorm<T> norm1_, norm2_;
};

}  // namespace platen
