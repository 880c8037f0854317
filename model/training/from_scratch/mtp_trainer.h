// Trains the small network of docs/MTP.md and says how good it is.
#pragma once

#include <vector>

#include "model/training/adamw.h"
#include "model/training/from_scratch/depth_weights.h"
#include "model/training/from_scratch/mtp_net.h"

namespace platen {

struct MtpScore {
  std::vector<double> loss;      // mean of every depth
  std::vector<double> accuracy;  // share of rows whose best token is the label
  // Guesses that a verifier would accept from a place, on average: those before the first wrong
  // one. Teacher forcing gives the number that drafting would: as long as all are right, what a
  // depth is told is what the depth before it has guessed.
  double accepted = 0;

  double mean_loss() const;
};

// One guess: what a depth says at a place, and what it should say.
struct MtpGuess {
  int64_t sequence = 0, place = 0;
  int depth = 0;
  TokenId label = 0, guess = 0;
  double probability = 0;  // of the label
};

// Weights, optimiser and a net. Adam (Kingma and Ba, arXiv:1412.6980) with 0.9 and 0.999. Not
// thread-safe; its products use the worker pool.
template <class T>
class MtpTrainer {
 public:
  MtpTrainer(const MtpTask& task, DepthWeights weights, uint64_t seed);
  MtpTrainer(const MtpTrainer&) = delete;
  MtpTrainer& operator=(const MtpTrainer&) = delete;

  // One step; returns the loss before it: the mean over rows and the weighted one over depths.
  double Step(const TokenBatch& batch, double rate);
  MtpScore Score(const TokenBatch& batch);
  // Sequence after sequence, place after place, depth after depth.
  std::vector<MtpGuess> Guesses(const TokenBatch& batch);

  // Adds the gradient of the loss of `batch` to those of the parameters; returns the loss.
  double AddGradient(const TokenBatch& batch);

  std::vector<double> depth_weights() const;
  const MtpShape& shape() const { return shape_; }
  const MtpNet<T>& net() const { return net_; }
  Parameters<T>& parameters() { return parameters_; }

 private:
  const MtpShape shape_;
  const DepthWeights weights_;
  Parameters<T> parameters_;
  MtpNet<T> net_;
  AdamW<T> optimiser_;
};

// The rate of step 1 .. steps: `peak`, and a sixth of it in the last third.
double MtpRate(int64_t step, int64_t steps, double peak);

}  // namespace platen
