#include "model/training/batch_gradient.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace platen {
namespace {

// The labels of some rows.
StepLabels Part(const StepLabels& labels, Range rows) {
  const auto cut = [&](const auto& all) {
    const auto first = all.begin() + rows.first;
    return std::decay_t<decltype(all)>(first, first + rows.count);
  };
  return {cut(labels.index), cut(labels.counts), cut(labels.place)};
}

}  // namespace

template <class T>
BatchGradient<T>::BatchGradient(Parameters<T>& parameters, const FrozenHead<T>& head,
                                ChainOn chain_on, Embed embed, Exact exact)
    : head_(head),
      graph_(MakeDraftGraph(parameters, chain_on)),
      embed_(std::move(embed)),
      exact_(std::move(exact)) {}

template <class T>
void BatchGradient<T>::Begin(const TrainingPage& page, int steps) {
  embeddings_ = embed_(page.ids);
  GraphPage<T> graph_page;
  graph_page.prompt = page.prompt;
  graph_page.embeddings = embeddings_;
  if constexpr (std::is_same_v<T, float>) {
    graph_page.hidden = page.hidden;
  } else {
    hidden_ = Converted<T>(page.hidden.View());
    graph_page.hidden = hidden_;
  }
  for (size_t axis = 0; axis < page.positions.size(); ++axis) {
    graph_page.positions[axis] = page.positions[axis];
  }
  graph_->Begin(graph_page, steps, rows_of_block_);
  vectors_.resize(static_cast<size_t>(steps));
  dvectors_.resize(static_cast<size_t>(steps));
  for (int d = 0; d < steps; ++d) {
    const int64_t rows = RowsOfStep(page.prompt, page.length(), d);
    vectors_[static_cast<size_t>(d)].Reuse(rows, embeddings_.cols());
    dvectors_[static_cast<size_t>(d)].Reuse(rows, embeddings_.cols());
  }
  if (exact_) exact_(page, vectors_);
}

template <class T>
void BatchGradient<T>::RunBlock(const TrainingPage& page, const Objective& objective, Range block,
                                bool gradients, Sums& sums) {
  const bool by_graph = gradients || !exact_;
  if (by_graph) graph_->Forward(block.first, block.count);
  std::vector<ConstView<T>> dvectors;
  for (size_t d = 0; d < vectors_.size(); ++d) {
    const Range rows =
        RowsOfBlock(page.prompt, page.length(), static_cast<int>(d), block.first, block.count);
    if (rows.count == 0) {
      dvectors.push_back({nullptr, 0, embeddings_.cols(), embeddings_.cols()});
      continue;
    }
    const View<T> vectors = vectors_[d].View().Rows(rows.first, rows.count);
    if (!exact_) {
      const ConstView<T> made = graph_->Vectors(static_cast<int>(d));
      for (int64_t r = 0; r < rows.count; ++r) std::copy_n(made.Row(r), made.cols, vectors.Row(r));
    }
    const View<T> gradient = dvectors_[d].View().Rows(rows.first, rows.count);
    const StepLabels labels = Part(sums.labels[d], rows);
    const RowLosses losses = LossOfRows<T>(head_, vectors, page, objective, labels,
                                           objective.step_weights[d] / sums.divisors[d],
                                           gradients ? gradient : View<T>{});
    for (size_t r = 0; r < losses.loss.size(); ++r) {
      if (labels.counts[r] != 0) sums.loss.of_step[d] += losses.loss[r] / sums.divisors[d];
    }
    sums.loss.rows.back()[d].Append(losses);
    dvectors.push_back(gradient);
  }
  if (gradients) graph_->Backward(dvectors);
}

template <class T>
void BatchGradient<T>::RunPage(const TrainingPage& held, const Objective& objective, bool gradients,
                               Sums& sums) {
  const WholePage whole(held);
  const TrainingPage& page = *whole;
  const int steps = objective.steps();
  Begin(page, steps);
  sums.loss.rows.emplace_back(static_cast<size_t>(steps));
  sums.labels.clear();
  for (int d = 0; d < steps; ++d) sums.labels.push_back(LabelsOf(page, objective, d));
  const int64_t rows = RowsOfStep(page.prompt, page.length(), 0);
  for (int64_t first = 0; first < rows; first += rows_of_block_) {
    RunBlock(page, objective, {first, std::min(rows_of_block_, rows - first)}, gradients, sums);
  }
  if (gradients) graph_->Finish();
}

template <class T>
BatchLoss BatchGradient<T>::RunAll(std::span<const TrainingPage* const> pages,
                                   const Objective& objective, bool gradients) {
  Sums sums;
  BatchLoss& loss = sums.loss;
  const auto steps = static_cast<size_t>(objective.steps());
  loss.of_step.assign(steps, 0);
  for (int d = 0; d < objective.steps(); ++d) {
    loss.counts.push_back(CountRows(pages, objective, d));
    sums.divisors.push_back(std::max<double>(1, static_cast<double>(loss.counts.back())));
  }
  for (const TrainingPage* page : pages) RunPage(*page, objective, gradients, sums);
  for (size_t d = 0; d < steps; ++d) loss.total += objective.step_weights[d] * loss.of_step[d];
  return std::move(loss);
}

template <class T>
BatchLoss BatchGradient<T>::Run(std::span<const TrainingPage* const> pages,
                                const Objective& objective) {
  return RunAll(pages, objective, true);
}

template <class T>
BatchLoss BatchGradient<T>::Losses(std::span<const TrainingPage* const> pages,
                                   const Objective& objective) {
  return RunAll(pages, objective, false);
}

template class BatchGradient<float>;
template class BatchGradient<double>;

}  // namespace platen
