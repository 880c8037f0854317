#include "model/training/from_scratch/mtp_trainer.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace platen {
namespace {

// No decay and no clip; the rate comes with each step.
Recipe PlainAdam() {
  Recipe recipe;
  recipe.beta1 = 0.9;
  recipe.beta2 = 0.999;
  recipe.eps = 1e-8;
  recipe.decay = 0;
  recipe.clip = std::numeric_limits<double>::infinity();
  return recipe;
}

template <class T>
Parameters<T> StartOf(const MtpShape& shape, const DepthWeights& weights, uint64_t seed) {
  Parameters<T> parameters(shape.draft);
  StartValues(shape, seed, parameters);
  if (shape.depth_logits) {
    const std::vector<double> z = StartLogits(weights);
    std::transform(z.begin(), z.end(), parameters.values(*shape.depth_logits).begin(),
                   [](double value) { return static_cast<T>(value); });
  }
  return parameters;
}

template <class Values>
double MeanOf(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double MtpScore::mean_loss() const { return MeanOf(loss); }

double MtpRate(int64_t step, int64_t steps, double peak) {
  return step <= steps * 2 / 3 ? peak : peak / 6;
}

template <class T>
MtpTrainer<T>::MtpTrainer(const MtpTask& task, DepthWeights weights, uint64_t seed)
    : shape_(MakeMtpShape(task.sizes, weights.learned)),
      weights_(std::move(weights)),
      parameters_(StartOf<T>(shape_, weights_, seed)),
      net_(shape_, task),
      optimiser_(PlainAdam(), parameters_) {}

template <class T>
std::vector<double> MtpTrainer<T>::depth_weights() const {
  if (!shape_.depth_logits) return weights_.prior;
  const std::span<const T> z = parameters_.values(*shape_.depth_logits);
  return SoftmaxOf(std::vector<double>(z.begin(), z.end()));
}

template <class T>
double MtpTrainer<T>::AddGradient(const TokenBatch& batch) {
  const MtpTask& task = net_.task();
  const std::vector<double> weights = depth_weights();
  net_.Forward(parameters_, batch);
  std::vector<Matrix<T>> dlogits;
  std::vector<double> losses;
  for (int k = 0; k < task.sizes.depths; ++k) {
    const ConstView<T> logits = net_.Logits(k);
    dlogits.emplace_back(logits.rows, logits.cols);
    losses.push_back(
        MeanOf(CrossEntropy<T>(logits, LabelsOf(task, batch, k),
                               weights[static_cast<size_t>(k)] / static_cast<double>(logits.rows),
                               dlogits.back())
                   .loss));
  }
  net_.Backward(parameters_, batch, dlogits);
  if (shape_.depth_logits) {
    const std::span<const T> z = std::as_const(parameters_).values(*shape_.depth_logits);
    const auto gradient =
        DepthLogitGradient(weights_, std::vector<double>(z.begin(), z.end()), losses);
    for (size_t k = 0; k < gradient.size(); ++k) {
      parameters_.gradient(*shape_.depth_logits)[k] += static_cast<T>(gradient[k]);
    }
  }
  return std::inner_product(weights.begin(), weights.end(), losses.begin(), 0.0);
}

template <class T>
double MtpTrainer<T>::Step(const TokenBatch& batch, double rate) {
  parameters_.ClearGradients();
  const double loss = AddGradient(batch);
  optimiser_.Step(parameters_, rate);
  return loss;
}

template <class T>
MtpScore MtpTrainer<T>::Score(const TokenBatch& batch) {
  const MtpTask& task = net_.task();
  net_.Forward(parameters_, batch);
  MtpScore score;
  std::vector<uint8_t> all_right(static_cast<size_t>(batch.count * task.places()), 1);
  for (int k = 0; k < task.sizes.depths; ++k) {
    const RowLosses rows = CrossEntropy<T>(net_.Logits(k), LabelsOf(task, batch, k), 0, View<T>{});
    score.loss.push_back(MeanOf(rows.loss));
    score.accuracy.push_back(MeanOf(rows.hit));
    for (size_t r = 0; r < all_right.size(); ++r) all_right[r] &= rows.hit[r];
    score.accepted += MeanOf(all_right);
  }
  return score;
}

template <class T>
std::vector<MtpGuess> MtpTrainer<T>::Guesses(const TokenBatch& batch) {
  const MtpTask& task = net_.task();
  const int64_t places = task.places(), depths = task.sizes.depths;
  net_.Forward(parameters_, batch);
  std::vector<MtpGuess> guesses(static_cast<size_t>(batch.count * places * depths));
  for (int k = 0; k < depths; ++k) {
    const ConstView<T> logits = net_.Logits(k);
    const std::vector<TokenId> labels = LabelsOf(task, batch, k);
    const RowLosses rows = CrossEntropy<T>(logits, labels, 0, View<T>{});
    for (int64_t r = 0; r < logits.rows; ++r) {
      const T* row = logits.Row(r);
      const auto at = static_cast<size_t>(r);
      guesses[static_cast<size_t>(r * depths + k)] = {
          r / places,
          r % places,
          k,
          labels[at],
          static_cast<TokenId>(std::max_element(row, row + logits.cols) - row),
          rows.probability[at]};
    }
  }
  return guesses;
}

template class MtpTrainer<float>;
template class MtpTrainer<double>;

}  // namespace platen
