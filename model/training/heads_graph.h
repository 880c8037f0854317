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
  void Begin(const GraphPage<T>& page, int steps, int64_t most_rows) override;
  void Forward(int64_t first, int64_t count) override;
  ConstView<T> Vectors(int step) const override {
    return heads_[static_cast<size_t>(step)].g.View();
  }
  void Backward(std::span<const ConstView<T>> dvectors) override;
  void Finish() override {}

 private:
  struct Head {
    ConstView<T> in;      // [R, D]
    Matrix<T> normed, g;  // [R, D]
    MlpGradient<T> mlp;
  };

  Parameters<T>& p_;
  GraphPage<T> page_;
  std::vector<Head> heads_;
};

}  // namespace platen
