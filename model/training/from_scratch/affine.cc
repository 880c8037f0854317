#include "model/training/from_scratch/affine.h"

#include <cassert>
#include <cmath>
#include <utility>

namespace platen {

template <class T>
void AddRows(ConstView<T> from, View<T> to) {
  assert(from.rows == to.rows && from.cols == to.cols);
  for (int64_t r = 0; r < to.rows; ++r) {
    for (int64_t i = 0; i < to.cols; ++i) to.Row(r)[i] += from.Row(r)[i];
  }
}

template <class T>
void ApplyAffine(const Affine& affine, const Parameters<T>& p, ConstView<T> x, View<T> y) {
  const T* bias = p.values(affine.bias).data() + affine.weight.first_row;
  ApplyWeights<T>(x, p.weights(affine.weight), y);
  for (int64_t r = 0; r < y.rows; ++r) {
    for (int64_t i = 0; i < y.cols; ++i) y.Row(r)[i] += bias[i];
  }
}

template <class T>
void AffineGradient(const Affine& affine, Parameters<T>& p, ConstView<T> x, ConstView<T> dy,
                    View<T> dx, Into into) {
  T* dbias = p.gradient(affine.bias).data() + affine.weight.first_row;
  for (int64_t r = 0; r < dy.rows; ++r) {
    for (int64_t i = 0; i < dy.cols; ++i) dbias[i] += dy.Row(r)[i];
  }
  AddWeightGradient<T>(dy, x, p.weight_gradient(affine.weight));
  ApplyTransposed<T>(dy, p.weights(affine.weight), dx, into);
}

template <class T>
void LayerNorm<T>::Forward(const LayerNormShape& shape, const Parameters<T>& p, ConstView<T> x,
                           View<T> y) {
  constexpr double kEps = 1e-5;
  const T* weight = p.values(shape.weight).data();
  const T* bias = p.values(shape.bias).data();
  const auto n = static_cast<double>(x.cols);
  normed_.Resize(x.rows, x.cols);
  deviation_.resize(static_cast<size_t>(x.rows));
  for (int64_t r = 0; r < x.rows; ++r) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < x.cols; ++i) sum += static_cast<double>(x.Row(r)[i]);
    const T mean = static_cast<T>(sum / n);
    for (int64_t i = 0; i < x.cols; ++i) {
      const auto away = static_cast<double>(x.Row(r)[i] - mean);
      squares += away * away;
    }
    const T deviation = static_cast<T>(std::sqrt(squares / n + kEps));
    deviation_[static_cast<size_t>(r)] = deviation;
    for (int64_t i = 0; i < x.cols; ++i) {
      normed_.Row(r)[i] = (x.Row(r)[i] - mean) / deviation;
      y.Row(r)[i] = weight[i] * normed_.Row(r)[i] + bias[i];
    }
  }
}

template <class T>
void LayerNorm<T>::Backward(const LayerNormShape& shape, Parameters<T>& p, ConstView<T> dy,
                            View<T> dx) {
  const T* weight = std::as_const(p).values(shape.weight).data();
  T* dweight = p.gradient(shape.weight).data();
  T* dbias = p.gradient(shape.bias).data();
  const auto n = static_cast<double>(dy.cols);
  for (int64_t r = 0; r < dy.rows; ++r) {
    const T* normed = normed_.Row(r);
    double sum = 0, along = 0;  // of the gradient at normed, and of it times normed
    for (int64_t i = 0; i < dy.cols; ++i) {
      const T g = weight[i] * dy.Row(r)[i];
      sum += static_cast<double>(g);
      along += static_cast<double>(g) * static_cast<double>(normed[i]);
      dweight[i] += dy.Row(r)[i] * normed[i];
      dbias[i] += dy.Row(r)[i];
    }
    const T mean = static_cast<T>(sum / n), slope = static_cast<T>(along / n);
    const T deviation = deviation_[static_cast<size_t>(r)];
    for (int64_t i = 0; i < dy.cols; ++i) {
      dx.Row(r)[i] = (weight[i] * dy.Row(r)[i] - mean - normed[i] * slope) / deviation;
    }
  }
}

#define PLATEN_INSTANTIATE(T)                                                                \
  template void AddRows<T>(ConstView<T>, View<T>);                                           \
  template void ApplyAffine<T>(const Affine&, const Parameters<T>&, ConstView<T>, View<T>);  \
  template void AffineGradient<T>(const Affine&, Parameters<T>&, ConstView<T>, ConstView<T>, \
                                  View<T>, Into);                                            \
  template class LayerNorm<T>;
PLATEN_INSTANTIATE(float)
PLATEN_INSTANTIATE(double)
#undef PLATEN_INSTANTIATE

}  // namespace platen
