#include "model/training/parameters.h"

namespace platen {

template <class T>
Parameters<T>::Parameters(const DraftShape& shape)
    : shape_(shape), offsets_{0}, trained_(shape.tensors.size(), true) {
  for (const DraftTensor& tensor : shape.tensors) {
    offsets_.push_back(offsets_.back() + static_cast<size_t>(tensor.size()));
  }
  for (const size_t tensor : shape.frozen) trained_[tensor] = false;
  values_.resize(offsets_.back());
  gradients_.resize(offsets_.back());
}

template <class T>
ConstView<T> Parameters<T>::weights(const WeightPart& part) const {
  const int64_t columns = shape_.tensors[part.tensor].columns();
  return {values(part.tensor).data() + part.first_row * columns, part.rows, columns, columns};
}

template <class T>
View<T> Parameters<T>::weight_gradient(const WeightPart& part) {
  const int64_t columns = shape_.tensors[part.tensor].columns();
  return {gradient(part.tensor).data() + part.first_row * columns, part.rows, columns, columns};
}

template class Parameters<float>;
template class Parameters<double>;

}  // namespace platen
