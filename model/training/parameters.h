// The trained tensors of a draft layer or of draft heads, with their gradients.
#pragma once

#include <span>
#include <vector>

#include "model/families/draft_shape.h"
#include "model/training/products.h"

namespace platen {

// Not thread-safe but for reading. `shape` outlives the object.
template <class T>
class Parameters {
 public:
  explicit Parameters(const DraftShape& shape);

  const DraftShape& shape() const { return shape_; }
  bool trained(size_t tensor) const { return trained_[tensor]; }

  std::span<T> values(size_t tensor) { return Of(values_, tensor); }
  std::span<const T> values(size_t tensor) const { return Of(values_, tensor); }
  std::span<T> gradient(size_t tensor) { return Of(gradients_, tensor); }
  std::span<const T> gradient(size_t tensor) const { return Of(gradients_, tensor); }
  // nullptr: not trained.
  T* gradient_or_null(size_t tensor) {
    return trained_[tensor] ? gradient(tensor).data() : nullptr;
  }

  ConstView<T> weights(const WeightPart& part) const;
  View<T> weight_gradient(const WeightPart& part);

  void ClearGradients() { std::fill(gradients_.begin(), gradients_.end(), T{0}); }

 private:
  std::span<T> Of(std::vector<T>& all, size_t tensor) {
    return std::span(all).subspan(offsets_[tensor], offsets_[tensor + 1] - offsets_[tensor]);
  }
  std::span<const T> Of(const std::vector<T>& all, size_t tensor) const {
    return std::span(all).subspan(offsets_[tensor], offsets_[tensor + 1] - offsets_[tensor]);
  }

  const DraftShape& shape_;
  std::vector<size_t> offsets_;  // one more than tensors
  std::vector<bool> trained_;
  std::vector<T> values_;
  std::vector<T> gradients_;
};

}  // namespace platen
