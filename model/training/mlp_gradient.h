// The feed-forward part of a draft layer or head, dense or of experts, forward and backward.
#pragma once

#include <vector>

#include "model/training/parameters.h"

namespace platen {

// One network on rows x [R, D]. Keeps what Backward needs of the last Forward.
template <class T>
class MlpGradient {
 public:
  void Forward(const DraftMlp& mlp, const Parameters<T>& p, ConstView<T> x, View<T> y);
  // Adds to dx and to the gradients of the weights.
  void Backward(const DraftMlp& mlp, Parameters<T>& p, ConstView<T> x, ConstView<T> dy, View<T> dx);

 private:
  Matrix<T> gate_, up_, inner_;  // [R, inner]
};

// Experts on rows x [R, D]: y = sum over a row's experts of weight * expert(x), then the shared
// one.
template <class T>
class ExpertsGradient {
 public:
  void Forward(const DraftExperts& experts, const Parameters<T>& p, ConstView<T> x, View<T> y);
  void Backward(const DraftExperts& experts, Parameters<T>& p, ConstView<T> x, ConstView<T> dy,
                View<T> dx);

 private:
  // Rows of one expert.
  struct Group {
    std::vector<int64_t> rows;
    std::vector<T> weights;
    Matrix<T> x, y;
    MlpGradient<T> mlp;
  };
  void Route(const DraftExperts& experts, const Parameters<T>& p);
  void RouterBackward(const DraftExperts& experts, const std::vector<std::vector<T>>& dweights,
                      Matrix<T>& dlogits) const;

  Matrix<T> logits_;  // [R, E]
  std::vector<Group> groups_;
  MlpGradient<T> shared_;
};

}  // namespace platen
