// AdamW with clipping and a warm-up. Source: Loshchilov and Hutter, arXiv:1711.05101.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/training/parameters.h"

namespace platen {

struct Recipe {
  int64_t steps = 200;   // S
  int64_t warm_up = 10;  // W, at least 1
  double peak_rate = 5e-5;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double decay = 0;  // of matrices, times the rate
  enum class DecayTo { kZero, kStart } decay_to = DecayTo::kZero;
  double clip = 1;  // largest norm of all gradients together
};

// Rate of step t = 1 .. S: up to the peak at t = W, then half a cosine that would be 0 at S + 1.
double RateOf(const Recipe& recipe, int64_t step);

// Norm of the gradients of all trained tensors together, summed in a fixed order.
template <class T>
double GradientNorm(const Parameters<T>& parameters);

// Moments of every trained value.
template <class T>
class AdamW {
 public:
  // The start is what decay may pull towards: the values at this moment.
  AdamW(const Recipe& recipe, const Parameters<T>& parameters);

  // One step with the gradients that `parameters` hold: clips, then changes the values. Returns the
  // norm before clipping.
  double Step(Parameters<T>& parameters) { return Step(parameters, RateOf(recipe_, done_ + 1)); }
  // With a rate of the caller's instead of the recipe's.
  double Step(Parameters<T>& parameters, double rate);

  int64_t steps_done() const { return done_; }

  // What a checkpoint keeps besides the values.
  struct State {
    int64_t steps_done = 0;
    std::vector<T> mean, square, start;
  };
  State state() const { return {done_, mean_, square_, start_}; }
  void Restore(State state);

 private:
  const Recipe recipe_;
  int64_t done_ = 0;
  std::vector<T> mean_, square_, start_;  // of all tensors, one after another
};

}  // namespace platen
