#include "model/training/from_scratch/encoder_block.h"

namespace platen {

template <class T>
void EncoderBlock<T>::Forward(const EncoderShape& shape, const Parameters<T>& p, ConstView<T> x,
                              View<T> y) {
  value_.Resize(x.rows, x.cols);
  attended_.Resize(x.rows, x.cols);
  inner_.Resize(x.rows, shape.inner.weight.rows);
  Matrix<T> sum(x.rows, x.cols);

  ApplyAffine<T>(shape.value, p, x, value_);
  ApplyAffine<T>(shape.output, p, value_, sum);
  AddRows<T>(x, sum);
  norm1_.Forward(shape.norm1, p, sum, attended_);

  ApplyAffine<T>(shape.inner, p, attended_, inner_);
  for (T& value : inner_.values()) value = std::max(value, T{0});
  ApplyAffine<T>(shape.outer, p, inner_, sum);
  AddRows<T>(attended_, sum);
  norm2_.Forward(shape.norm2, p, sum, y);
}

template <class T>
void EncoderBlock<T>::Backward(const EncoderShape& shape, Parameters<T>& p, ConstView<T> x,
                               ConstView<T> dy, View<T> dx) {
  Matrix<T> dattended(x.rows, x.cols), dinner(x.rows, inner_.cols()), dvalue(x.rows, x.cols);

  norm2_.Backward(shape.norm2, p, dy, dattended);
  AffineGradient<T>(shape.outer, p, inner_, dattended, dinner);
  for (size_t i = 0; i < dinner.values().size(); ++i) {
    if (inner_.values()[i] == 0) dinner.values()[i] = 0;
  }
  AffineGradient<T>(shape.inner, p, attended_, dinner, dattended, Into::kAdd);

  norm1_.Backward(shape.norm1, p, dattended, dx);
  AffineGradient<T>(shape.output, p, value_, ConstView<T>(dx), dvalue);
  AffineGradient<T>(shape.value, p, x, dvalue, dx, Into::kAdd);
}

template class EncoderBlock<float>;
template class EncoderBlock<double>;

}  // namespace platen
