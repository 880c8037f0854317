// Cross-entropy of draft vectors under the target's frozen head, and its gradient at the vectors.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/checkpoint/checkpoint.h"
#include "model/training/objective.h"
#include "model/training/products.h"

namespace platen {

// The target's head as it is stored, read in tiles. Thread-safe for reading.
template <class T>
class FrozenHead {
 public:
  // `weights` [V, D] outlive the head. `vocabulary`: the rows that are used; empty: all. Without
  // `exact`, logits are the head's product by OpenBLAS.
  using Exact = std::function<void(ConstView<T> x, View<T> logits)>;
  FrozenHead(const StoredTensor& weights, double softcap, std::vector<TokenId> vocabulary = {},
             Exact exact = {});

  int64_t size() const { return rows_; }
  bool capped() const { return softcap_ != 0; }
  // x [R, D] -> logits [R, size()], capped.
  void Logits(ConstView<T> x, View<T> logits) const;
  // dx [R, D] of dlogits [R, size()], which are changed where there is a cap; `logits` are looked
  // at only then.
  void Gradient(ConstView<T> logits, View<T> dlogits, View<T> dx) const;

 private:
  template <class Keep>
  void WidenRows(int64_t first, int64_t count, const Keep& keep) const;
  void WidenTile(int64_t first, int64_t count, Matrix<T>& tile) const;
  void TileGradient(int64_t first, ConstView<T> dlogits, View<T> dx, Matrix<T>& tile) const;

  const StoredTensor& weights_;
  const T softcap_;
  const std::vector<TokenId> vocabulary_;
  const Exact exact_;
  int64_t rows_;
};

// Of every row: its loss, whether the head's best token is the label, the label's probability.
struct RowLosses {
  std::vector<double> loss;
  std::vector<uint8_t> hit;
  std::vector<double> probability;

  void Append(const RowLosses& other);
};

// The rows of one step. dvectors [R, D] gets `weight` times the gradient of the sum of the losses
// of rows that count; its data may be null.
template <class T>
RowLosses LossOfRows(const FrozenHead<T>& head, ConstView<T> vectors, const TrainingPage& page,
                     const Objective& objective, const StepLabels& labels, double weight,
                     View<T> dvectors);

}  // namespace platen
