#include "model/training/adamw.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <utility>

#include "model/ops/parallel.h"
#include "model/support/ceil_div.h"

namespace platen {
namespace {

constexpr int64_t kValuesAtOnce = 1 << 14;

template <class T>
size_t NumValues(const Parameters<T>& parameters) {
  size_t values = 0;
  for (const DraftTensor& tensor : parameters.shape().tensors) {
    values += static_cast<size_t>(tensor.size());
  }
  return values;
}

}  // namespace

double RateOf(const Recipe& recipe, int64_t step) {
  if (step <= recipe.warm_up) {
    return recipe.peak_rate * static_cast<double>(step) / static_cast<double>(recipe.warm_up);
  }
  const auto since = static_cast<double>(step - 1 - recipe.warm_up);
  const auto all = static_cast<double>(std::max<int64_t>(1, recipe.steps - recipe.warm_up));
  return recipe.peak_rate * 0.5 * (1 + std::cos(std::numbers::pi * since / all));
}

template <class T>
double GradientNorm(const Parameters<T>& parameters) {
  double sum = 0;
  for (size_t t = 0; t < parameters.shape().tensors.size(); ++t) {
    if (!parameters.trained(t)) continue;
    for (const T g : parameters.gradient(t)) sum += static_cast<double>(g) * static_cast<double>(g);
  }
  return std::sqrt(sum);
}

template <class T>
AdamW<T>::AdamW(const Recipe& recipe, const Parameters<T>& parameters)
    : recipe_(recipe), mean_(NumValues(parameters)), square_(mean_.size()) {
  for (size_t t = 0; t < parameters.shape().tensors.size(); ++t) {
    const auto values = parameters.values(t);
    start_.insert(start_.end(), values.begin(), values.end());
  }
}

template <class T>
void AdamW<T>::Restore(State state) {
  assert(state.mean.size() == mean_.size() && state.square.size() == square_.size());
  assert(state.start.size() == start_.size());
  done_ = state.steps_done;
  mean_ = std::move(state.mean);
  square_ = std::move(state.square);
  start_ = std::move(state.start);
}

template <class T>
double AdamW<T>::Step(Parameters<T>& parameters, double rate) {
  ++done_;
  const auto t = static_cast<double>(done_);
  const double norm = GradientNorm(parameters);
  const double factor = norm > recipe_.clip ? recipe_.clip / norm : 1;
  // 1 - beta is rounded once: as a float's difference from 1 it would be off by 1e-5 of itself.
  const T beta1 = static_cast<T>(recipe_.beta1), beta2 = static_cast<T>(recipe_.beta2);
  const T new_mean = static_cast<T>(1 - recipe_.beta1);
  const T new_square = static_cast<T>(1 - recipe_.beta2);
  const T mean_factor = static_cast<T>(1 / (1 - std::pow(recipe_.beta1, t)));
  const T square_factor = static_cast<T>(1 / (1 - std::pow(recipe_.beta2, t)));
  const bool to_start = recipe_.decay_to == Recipe::DecayTo::kStart;
  size_t offset = 0;
  for (size_t tensor = 0; tensor < parameters.shape().tensors.size(); ++tensor) {
    const std::span<T> values = parameters.values(tensor);
    const std::span<const T> gradient = std::as_const(parameters).gradient(tensor);
    const T decay =
        parameters.shape().tensors[tensor].is_matrix() ? static_cast<T>(recipe_.decay) : T{0};
    const auto n = static_cast<int64_t>(values.size());
    if (parameters.trained(tensor)) {
      ParallelFor(CeilDiv(n, kValuesAtOnce), [&](int64_t chunk) {
        const auto first = static_cast<size_t>(chunk * kValuesAtOnce);
        const auto end = static_cast<size_t>(std::min(n, (chunk + 1) * kValuesAtOnce));
        for (size_t i = first; i < end; ++i) {
          const size_t at = offset + i;
          const T g = gradient[i] * static_cast<T>(factor);
          mean_[at] = beta1 * mean_[at] + new_mean * g;
          square_[at] = beta2 * square_[at] + new_square * g * g;
          const T root = std::sqrt(square_[at] * square_factor) + static_cast<T>(recipe_.eps);
          const T pull = to_start ? values[i] - start_[at] : values[i];
          values[i] -= static_cast<T>(rate) * (mean_[at] * mean_factor / root + decay * pull);
        }
      });
    }
    offset += values.size();
  }
  return norm;
}

template double GradientNorm(const Parameters<float>&);
template double GradientNorm(const Parameters<double>&);
template class AdamW<float>;
template class AdamW<double>;

}  // namespace platen
