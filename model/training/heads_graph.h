// The graph of residual draft heads. Private to this folder.
#pragma once

#include <vector>

#include "model/training/draft_graph.h"
#include "model/training/mlp_gradient.h"

namespace platen {

template <class T>
class HeadsGraph final : public DraftGraph<T> {
 public:
  explicit HeadsGraph(Parameters<T>& parameters) : p_(parameters) {}

  // No more steps than there are heads.
  void Forward(const GraphPage<T>& page, int steps) override;
  ConstView<T> Vectors(int step) const override {
    return heads_[static_cast<size_t>(step)].g.View();
  }
  void Backward(std::span<const Matrix<T>> dvectors) override;

 private:
  struct Head {
    ConstView<T> in;      // [R, D]
    Matrix<T> normed, g;  // [R, D]
    MlpGradient<T> mlp;
  };

  Parameters<T>& p_;
  std::vector<Head> heads_;
};

}  // namespace platen
