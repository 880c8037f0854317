#include "model/training/from_scratch/depth_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace platen {
namespace {

double Sum(const DepthWeights& weights, const std::vector<double>& z,
           const std::vector<double>& losses) {
  const std::vector<double> w = SoftmaxOf(z);
  double sum = 0;
  for (size_t k = 0; k < w.size(); ++k) {
    sum += w[k] * (losses[k] + weights.temperature * std::log(w[k] / weights.prior[k]));
  }
  return sum;
}

TEST(DepthWeightsTest, GradientIsThatOfDifferences) {
  const std::vector<double> losses = {0.5, 2.0, 1.2}, z = {0.3, -0.4, 0.1};
  for (const double temperature : {0.0, 0.7}) {
    const auto weights = DepthWeights::Learned({0.5, 0.3, 0.2}, temperature);
    const auto gradient = DepthLogitGradient(weights, z, losses);
    for (size_t k = 0; k < 3; ++k) {
      constexpr double kStep = 1e-6;
      std::vector<double> above = z, below = z;
      above[k] += kStep;
      below[k] -= kStep;
      const double slope =
          (Sum(weights, above, losses) - Sum(weights, below, losses)) / (2 * kStep);
      EXPECT_NEAR(gradient[k], slope, 1e-8);
    }
  }
}

TEST(DepthWeightsTest, RestsAtThePriorTimesTheExponentialOfTheLoss) {
  const std::vector<double> losses = {0.5, 2.0, 1.2};
  const auto weights = DepthWeights::Learned({0.2, 0.3, 0.5}, 0.7);
  std::vector<double> z;
  for (size_t k = 0; k < 3; ++k) z.push_back(std::log(weights.prior[k]) - losses[k] / 0.7);
  for (const double slope : DepthLogitGradient(weights, z, losses)) EXPECT_NEAR(slope, 0, 1e-12);
}

TEST(DepthWeightsTest, StartsAtThePrior) {
  const auto weights = DepthWeights::Learned({0.51, 0.31, 0.18}, 1);
  const auto start = SoftmaxOf(StartLogits(weights));
  for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(start[k], weights.prior[k], 1e-12);
  const auto equal = DepthWeights::Equal(4).prior;
  EXPECT_NEAR(std::accumulate(equal.begin(), equal.end(), 0.0), 1, 1e-12);
  EXPECT_EQ(equal.front(), equal.back());
}

// Without a temperature every step takes weight from the depths that are harder than the mean.
TEST(DepthWeightsTest, WithoutATemperatureTheEasiestDepthTakesAll) {
  const std::vector<double> losses = {1.0, 1.1, 1.3};
  for (const double temperature : {0.0, 1.0}) {
    const auto weights = DepthWeights::Learned(DepthWeights::Equal(3).prior, temperature);
    std::vector<double> z = StartLogits(weights);
    for (int step = 0; step < 6000; ++step) {
      const auto gradient = DepthLogitGradient(weights, z, losses);
      for (size_t k = 0; k < 3; ++k) z[k] -= 0.1 * gradient[k];
    }
    if (temperature == 0) {
      EXPECT_GT(SoftmaxOf(z)[0], 0.99);
    } else {
      EXPECT_LT(SoftmaxOf(z)[0], 0.40);
    }
  }
}

}  // namespace
}  // namespace platen
