#include "model/training/objective.h"

#include <algorithm>
#include <numeric>

#include "model/training/draft_graph.h"

namespace platen {

std::vector<double> DecayingStepWeights(int steps) {
  constexpr double kDecay = 0.6;
  std::vector<double> weights;
  for (double weight = 1; static_cast<int>(weights.size()) < steps; weight *= kDecay) {
    weights.push_back(weight);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

StepLabels LabelsOf(const TrainingPage& page, const Objective& objective, int step) {
  StepLabels labels;
  const int64_t rows = RowsOfStep(page.prompt, page.length(), step);
  const std::vector<TokenId>& known = objective.vocabulary;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t index = page.prompt - 1 + r + step + 2;
    const TokenId id = page.ids[static_cast<size_t>(index)];
    bool counts = !objective.use_mask || page.label_mask.empty() ||
                  page.label_mask[static_cast<size_t>(index)] != 0;
    auto place = static_cast<int32_t>(id);
    if (!known.empty()) {
      const auto found = std::lower_bound(known.begin(), known.end(), id);
      const bool is_known = found != known.end() && *found == id;
      counts = counts && is_known;
      place = is_known ? static_cast<int32_t>(found - known.begin()) : 0;
    }
    labels.index.push_back(index);
    labels.counts.push_back(counts ? 1 : 0);
    labels.place.push_back(place);
  }
  return labels;
}

int64_t CountRows(std::span<const TrainingPage* const> pages, const Objective& objective,
                  int step) {
  int64_t rows = 0;
  for (const TrainingPage* page : pages) {
    const StepLabels labels = LabelsOf(*page, objective, step);
    rows += std::count(labels.counts.begin(), labels.counts.end(), 1);
  }
  return rows;
}

}  // namespace platen
