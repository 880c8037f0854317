// Training of what a model drafts with on recorded pages, step by step, from a folder in which it
// can be stopped and goes on.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/support/folder.h"
#include "model/training/adamw.h"
#include "model/training/document_split.h"
#include "model/training/draft_evaluation.h"

namespace platen {

struct TuneOptions {
  Recipe recipe;
  int steps_of_chain = 3;  // drafts that are trained for, K
  Labels labels = Labels::kHard;
  std::vector<TokenId> vocabulary;  // tokens that drafts choose among, ascending; empty: all
  int64_t rows_per_step = 2000;     // of the first draft, at least, in a step's pages
  int evaluate_every = 25;          // steps
  uint64_t seed = 1;
};

// What a step gave.
struct TuneStep {
  int64_t step = 0;
  double loss = 0;
  std::vector<double> loss_of_draft;
  double rate = 0;
  double gradient_norm = 0;
  double seconds = 0;
  double tokens_per_round = -1;  // on the documents that choose, with K drafts; -1: not evaluated
  bool best = false;             // so far
};

// Weights, moments and the best weights so far are in the folder as `checkpoint.safetensors` and
// `best.safetensors`, written whole or not at all. The same options, pages and start give the same
// weights bit for bit, stopped or not, with any number of threads.
class Tuner {
 public:
  // `start`: the weights before training, which are the best until there are better ones. Goes on
  // from a checkpoint in `folder` if there is one; throws Error(kInput) if that was made with other
  // options, pages or weights. All references outlive the tuner. `deployed` is the draft as it will
  // be run, by which steps are judged; `exact` the same in f32, which gives the vectors that are
  // trained.
  Tuner(Parameters<float>& parameters, EngineDraft& exact, EngineDraft& deployed,
        const std::vector<TrainingPage>& pages, const TuneOptions& options, const Folder& folder,
        std::map<std::string, std::string> metadata);

  bool done() const { return optimiser_.steps_done() >= options_.recipe.steps; }
  // One step. Throws Error(kModel) if a loss or a gradient is not finite.
  TuneStep Step();
  void Save() const;

  // Of the weights before training, and the best.
  double start_tokens_per_round() const { return start_value_; }
  double best_tokens_per_round() const { return best_value_; }
  int64_t best_step() const { return best_step_; }
  // The best weights into the parameters.
  void TakeBest();

  static constexpr const char* kBestFile = "best.safetensors";

 private:
  FrozenHead<float>::Exact ExactLogits();
  std::string Fingerprint() const;
  bool Resume();
  double Evaluate();
  std::vector<const TrainingPage*> NextBatch();
  void SaveBest() const;

  Parameters<float>& parameters_;
  EngineDraft& exact_;
  EngineDraft& deployed_;
  const TuneOptions options_;
  const Folder& folder_;
  const std::map<std::string, std::string> metadata_;
  const Objective objective_;
  std::vector<const TrainingPage*> train_, choose_;
  FrozenHead<float> head_;
  BatchGradient<float> gradient_;
  AdamW<float> optimiser_;
  // Where the next batch begins: in which order of which epoch.
  int64_t epoch_ = 0;
  std::vector<size_t> order_;
  size_t next_page_ = 0;
  std::string fingerprint_;
  double start_value_ = 0, best_value_ = 0;
  int64_t best_step_ = 0;
};

}  // namespace platen
