// The graph of a draft layer that is chained on its own output. Private to this folder.
//
// Step 0 of all slots makes keys and values that every row sees. They are computed first, and their
// gradients grow with every block of rows. Every gradient rule is linear in what comes in, so the
// part of step 0 that goes through keys and values can wait until all blocks have added theirs.
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

  void Begin(const GraphPage<T>& page, int steps, int64_t most_rows) override;
  void Forward(int64_t first, int64_t count) override;
  ConstView<T> Vectors(int step) const override {
    return steps_[static_cast<size_t>(step)].normed.View();
  }
  void Backward(std::span<const ConstView<T>> dvectors) override;
  void Finish() override;

  // The gradients at keys (rotated) and values of step 0 so far, for tests.
  const ChainSteps<T>& attention_gradients() const { return dchain_; }

 private:
  // N rows of the block in one step.
  struct Step {
    ConstView<T> embedded, hidden;  // [N, D]
    Matrix<T> joined;               // [N, 2D]
    Matrix<T> z, a;                 // [N, D]
    QueriesGradient<T> queries;
    KeysGradient<T> keys;  // of steps 1 ..
    Matrix<T> ctx;         // [N, H * value width]
    Matrix<T> o;           // [N, D]: what attention gives
    Matrix<T> s, m;        // [N, D]: the residual stream behind it, and normed
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
  RowPositions PositionsOf(int64_t slot, int64_t count) const;
  void JoinInputs(ConstView<T> embedded, ConstView<T> hidden, Matrix<T>& joined) const;
  void InputsGradient(ConstView<T> embedded, ConstView<T> hidden, ConstView<T> joined,
                      ConstView<T> dz, Matrix<T>& djoined);
  void KeysOfSlots(Range slots);
  void KeysOfSlotsGradient(Range slots);
  void ForwardInput(int d);
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

  // Of the page. Slots are those that anything sees.
  GraphPage<T> page_;
  int64_t slots_ = 0;
  int64_t most_rows_ = 0;  // slots or rows at once
  Matrix<T> z_;            // [slots, D] of step 0
  Matrix<T> dz_;           // [rows of step 0, D]: all but what comes through keys and values

  // Of the block; keys and values of step 0 of the page.
  int64_t first_ = 0, count_ = 0;
  std::vector<Step> steps_;
  ChainSteps<T> chain_, dchain_;
  std::vector<Matrix<T>> dchained_;  // at what step d + 1 took from step d
};

}  // namespace platen
