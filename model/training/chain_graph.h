// The graph of a draft layer that is chained on its own output. Private to this folder.
#pragma once

#include <vector>

#include "model/training/chain_attention.h"
#include "model/training/draft_graph.h"
#include "model/training/mlp_gradient.h"

namespace platen {

template <class T>
class ChainGraph final : public DraftGraph<T> {
 public:
  ChainGraph(Parameters<T>& parameters, ChainOn chain_on)
      : p_(parameters), shape_(*parameters.shape().chain), chain_on_(chain_on) {}

  void Forward(const GraphPage<T>& page, int steps) override;
  ConstView<T> Vectors(int step) const override {
    return steps_[static_cast<size_t>(step)].normed.View();
  }
  void Backward(std::span<const Matrix<T>> dvectors) override;

  // The gradients at keys (rotated) and values that the last Backward left, for tests.
  const ChainSteps<T>& attention_gradients() const { return dchain_; }

 private:
  // R rows of the step: at step 0 all slots that anything sees, else as many as there are vectors.
  // The last N of them go on behind the keys and values.
  struct Step {
    ConstView<T> embedded, hidden;  // [R, D]
    Matrix<T> joined;               // [R, 2D]
    Matrix<T> z, a;                 // [R, D]
    QkvGradient<T> qkv;
    Matrix<T> ctx;   // [N, H * value width]
    Matrix<T> o;     // [N, D]: what attention gives
    Matrix<T> s, m;  // [N, D]: the residual stream behind it, and normed
    MlpGradient<T> mlp;
    ExpertsGradient<T> experts;
    Matrix<T> w;          // [N, D]: what the feed-forward part gives
    Matrix<T> u, normed;  // [N, D]
  };

  T eps() const { return static_cast<T>(p_.shape().norm_eps); }
  const T* weight(size_t tensor) const { return p_.values(tensor).data(); }
  const Matrix<T>& Chained(const Step& step) const {
    return chain_on_ == ChainOn::kNormed ? step.normed : step.u;
  }
  void ForwardInput(const GraphPage<T>& page, int d);
  void ForwardLayer(int d);
  void AddBranch(ConstView<T> branch, const std::optional<size_t>& norm, View<T> sum) const;
  Matrix<T> BranchGradient(ConstView<T> branch, const std::optional<size_t>& norm,
                           ConstView<T> dsum);
  void LayerBackward(int d, ConstView<T> dnormed, Matrix<T>& ds);
  void InputBackward(int d, ConstView<T> ds);
  void PrepareGradients();

  Parameters<T>& p_;
  const DraftChain& shape_;
  const ChainOn chain_on_;
  std::vector<Step> steps_;
  ChainSteps<T> chain_, dchain_;
  std::vector<Matrix<T>> dchained_;  // at what step d + 1 took from step d
};

}  // namespace platen
