#include "model/training/from_scratch/depth_weights.h"

#include <algorithm>
#include <cmath>

namespace platen {

DepthWeights DepthWeights::Equal(int depths) {
  return {.prior = std::vector<double>(static_cast<size_t>(depths), 1.0 / depths)};
}

DepthWeights DepthWeights::Learned(std::vector<double> prior, double temperature) {
  return {.prior = std::move(prior), .learned = true, .temperature = temperature};
}

std::vector<double> SoftmaxOf(std::span<const double> z) {
  const double most = *std::max_element(z.begin(), z.end());
  std::vector<double> weights;
  double sum = 0;
  for (const double value : z) {
    weights.push_back(std::exp(value - most));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<double> StartLogits(const DepthWeights& weights) {
  std::vector<double> z;
  for (const double share : weights.prior) z.push_back(std::log(share));
  return z;
}

std::vector<double> DepthLogitGradient(const DepthWeights& weights, std::span<const double> z,
                                       std::span<const double> losses) {
  const std::vector<double> w = SoftmaxOf(z);
  std::vector<double> gradient;  // at w, then at z
  double mean = 0;
  for (size_t k = 0; k < w.size(); ++k) {
    gradient.push_back(losses[k] + weights.temperature * std::log(w[k] / weights.prior[k]));
    mean += w[k] * gradient[k];
  }
  for (size_t k = 0; k < w.size(); ++k) gradient[k] = w[k] * (gradient[k] - mean);
  return gradient;
}

}  // namespace platen
