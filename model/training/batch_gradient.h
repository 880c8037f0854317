// The loss of a batch of recorded pages and its gradients: what one training step computes.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "model/training/draft_graph.h"
#include "model/training/head_loss.h"

namespace platen {

// sum over steps d of weight_d / N_d * (sum of the losses of its rows that count). A step without
// such rows adds nothing; weights are not normalised again.
struct BatchLoss {
  double total = 0;
  std::vector<double> of_step;  // means over the rows that count
  std::vector<int64_t> counts;  // N_d
  // Of every page and step: what its rows gave.
  std::vector<std::vector<RowLosses>> rows;
};

// Results do not depend on the number of threads.
template <class T>
class BatchGradient {
 public:
  // Embeddings [tokens, D] of the target's table.
  using Embed = std::function<Matrix<T>(std::span<const TokenId> ids)>;
  // Replaces what the graph gives for the steps of a page (Vectors) by what the engine's own layer
  // gives, which differs by rounding; empty: the graph's are used.
  using Exact = std::function<void(const TrainingPage& page, std::vector<Matrix<T>>& vectors)>;

  // All outlive the object.
  BatchGradient(Parameters<T>& parameters, const FrozenHead<T>& head, ChainOn chain_on, Embed embed,
                Exact exact = {});

  // Adds the gradients to the parameters', which the caller clears.
  BatchLoss Run(std::span<const TrainingPage* const> pages, const Objective& objective);
  // The losses alone.
  BatchLoss Losses(std::span<const TrainingPage* const> pages, const Objective& objective);

  // The vectors and the gradients at them that the last page of the last Run had, for tests.
  const std::vector<Matrix<T>>& vectors() const { return vectors_; }
  const std::vector<Matrix<T>>& vector_gradients() const { return dvectors_; }

  // Rows that go through all steps together; tests take other numbers.
  void SetRowsOfBlock(int64_t rows) { rows_of_block_ = rows; }

 private:
  // What a page adds to, and what its rows are weighted with.
  struct Sums {
    BatchLoss loss;
    std::vector<StepLabels> labels;  // of the page, by step
    std::vector<double> divisors;    // by step
  };
  BatchLoss RunAll(std::span<const TrainingPage* const> pages, const Objective& objective,
                   bool gradients);
  void RunPage(const TrainingPage& page, const Objective& objective, bool gradients, Sums& sums);
  void Begin(const TrainingPage& page, int steps);
  void RunBlock(const TrainingPage& page, const Objective& objective, Range block, bool gradients,
                Sums& sums);

  const FrozenHead<T>& head_;
  std::unique_ptr<DraftGraph<T>> graph_;
  const Embed embed_;
  const Exact exact_;
  int64_t rows_of_block_ = kRowsOfBlock;
  Matrix<T> embeddings_, hidden_;
  std::vector<Matrix<T>> vectors_, dvectors_;
};

}  // namespace platen
