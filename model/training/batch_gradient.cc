#include "model/training/batch_gradient.h"

#include <utility>

namespace platen {

template <class T>
BatchGradient<T>::BatchGradient(Parameters<T>& parameters, const FrozenHead<T>& head,
                                ChainOn chain_on, Embed embed, Exact exact)
    : head_(head),
      graph_(MakeDraftGraph(parameters, chain_on)),
      embed_(std::move(embed)),
      exact_(std::move(exact)) {}

template <class T>
void BatchGradient<T>::Forward(const TrainingPage& page, int steps) {
  embeddings_ = embed_(page.ids);
  hidden_ = Converted<T>(page.hidden.View());
  GraphPage<T> graph_page;
  graph_page.prompt = page.prompt;
  graph_page.embeddings = embeddings_;
  graph_page.hidden = hidden_;
  for (size_t axis = 0; axis < page.positions.size(); ++axis) {
    graph_page.positions[axis] = page.positions[axis];
  }
  graph_->Forward(graph_page, steps);
  vectors_.clear();
  for (int d = 0; d < steps; ++d) vectors_.push_back(Converted<T>(graph_->Vectors(d)));
  if (exact_) exact_(page, vectors_);
}

template <class T>
BatchLoss BatchGradient<T>::RunAll(std::span<const TrainingPage* const> pages,
                                   const Objective& objective, bool gradients) {
  BatchLoss loss;
  const auto steps = static_cast<size_t>(objective.steps());
  loss.of_step.assign(steps, 0);
  for (int d = 0; d < objective.steps(); ++d) {
    loss.counts.push_back(CountRows(pages, objective, d));
  }
  for (const TrainingPage* page : pages) {
    Forward(*page, objective.steps());
    dvectors_.clear();
    loss.rows.emplace_back();
    for (size_t d = 0; d < steps; ++d) {
      const StepLabels labels = LabelsOf(*page, objective, static_cast<int>(d));
      const double divisor = std::max<double>(1, static_cast<double>(loss.counts[d]));
      Matrix<T>& dvectors = dvectors_.emplace_back(vectors_[d].rows(), vectors_[d].cols());
      RowLosses rows = LossOfRows<T>(head_, vectors_[d], *page, objective, labels,
                                     objective.step_weights[d] / divisor,
                                     gradients ? dvectors.View() : View<T>{});
      for (size_t r = 0; r < rows.loss.size(); ++r) {
        if (labels.counts[r] != 0) loss.of_step[d] += rows.loss[r] / divisor;
      }
      loss.rows.back().push_back(std::move(rows));
    }
    if (gradients) graph_->Backward(dvectors_);
  }
  for (size_t d = 0; d < steps; ++d) loss.total += objective.step_weights[d] * loss.of_step[d];
  return loss;
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
