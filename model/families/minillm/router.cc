#include "model/families/minillm/router.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/support/fixed_math.h"

namespace platen::minillm {
namespace {

constexpr double kDropped = -std::numeric_limits<double>::infinity();

// The `count` places with the largest values, ascending; of equal ones the first.
void Largest(std::span<const double> values, int count, std::vector<int>& places) {
  places.resize(values.size());
  std::iota(places.begin(), places.end(), 0);
  std::partial_sort(places.begin(), places.begin() + count, places.end(), [&](int a, int b) {
    const double va = values[static_cast<size_t>(a)], vb = values[static_cast<size_t>(b)];
    return va > vb || (va == vb && a < b);
  });
  places.resize(static_cast<size_t>(count));
  std::sort(places.begin(), places.end());
}

}  // namespace

void Router::Score(std::span<const float> logits) {
  scores_.assign(logits.begin(), logits.end());
  if (c_.scoring == RouterConfig::Scoring::kSigmoid) {
    for (double& s : scores_) s = FixedSigmoid(s);
  } else {
    const double largest = *std::ranges::max_element(scores_);
    for (double& s : scores_) s = FixedExp(s - largest);
    const double sum = std::accumulate(scores_.begin(), scores_.end(), 0.0);
    for (double& s : scores_) s /= sum;
  }
}

double Router::GroupValue(int group) const {
  const int size = c_.experts / c_.groups;
  double first = kDropped, second = kDropped;
  for (int e = group * size; e < (group + 1) * size; ++e) {
    const double value = compared_[static_cast<size_t>(e)];
    second = std::max(second, std::min(first, value));
    first = std::max(first, value);
  }
  return c_.group_value == RouterConfig::GroupValue::kLargest ? first : first + second;
}

void Router::DropGroups() {
  if (c_.kept_groups == c_.groups) return;
  values_.resize(static_cast<size_t>(c_.groups));
  for (int g = 0; g < c_.groups; ++g) values_[static_cast<size_t>(g)] = GroupValue(g);
  Largest(values_, c_.kept_groups, order_);
  const int size = c_.experts / c_.groups;
  for (int e = 0; e < c_.experts; ++e) {
    if (!std::ranges::binary_search(order_, e / size)) compared_[static_cast<size_t>(e)] = kDropped;
  }
}

void Router::Choose(std::span<const float> logits, std::span<const float> bias,
                    std::vector<ExpertChoice>& chosen) {
  Score(logits);
  compared_ = scores_;
  for (size_t e = 0; e < bias.size(); ++e) compared_[e] += static_cast<double>(bias[e]);
  for (double& value : compared_) {
    if (std::isnan(value)) value = std::numeric_limits<double>::lowest();
  }
  DropGroups();
  Largest(compared_, c_.per_token, order_);
  double sum = 0;
  for (const int e : order_) sum += scores_[static_cast<size_t>(e)];
  const double divisor = c_.normalise ? std::max(sum, c_.least_sum) : 1;
  chosen.clear();
  for (const int e : order_) {
    const double weight = scores_[static_cast<size_t>(e)] / divisor * c_.scale;
    chosen.push_back({e, static_cast<float>(weight)});
  }
}

}  // namespace platen::minillm
