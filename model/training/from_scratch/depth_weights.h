// How the losses of several depths become one: with fixed weights or with learned ones.
//
// Learned weights w = softmax(z), trained like everything else to make
//   sum of w_k L_k + temperature * sum of w_k log(w_k / prior_k)
// small, settle at w_k ~ prior_k exp(-L_k / temperature). Without the second term (the entropy, if
// the prior is equal weights) the gradient at z_k is w_k (L_k - mean of L): it always moves weight
// to the depth that is easiest now, whose loss then falls further, until the others have none. With
// weights that need not sum to 1 it is plainer still: the least loss is that of no weight at all.
#pragma once

#include <span>
#include <vector>

namespace platen {

struct DepthWeights {
  std::vector<double> prior;  // sums to 1; the weights themselves where they are not learned
  bool learned = false;
  double temperature = 1;  // 0: the weights collapse

  static DepthWeights Equal(int depths);
  static DepthWeights Learned(std::vector<double> prior, double temperature);
};

// The weights that z [D] stands for.
std::vector<double> SoftmaxOf(std::span<const double> z);

// z whose softmax is the prior.
std::vector<double> StartLogits(const DepthWeights& weights);

// d/dz of the sum above, for losses [D] that do not depend on z.
std::vector<double> DepthLogitGradient(const DepthWeights& weights, std::span<const double> z,
                                       std::span<const double> losses);

}  // namespace platen
