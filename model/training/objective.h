// What draft heads are trained for: which rows count, with what weights, and what they should say.
//
// Source: FastMTP (arXiv 2509.18362) for the weights of steps; see docs/MTP.md.
#pragma once

#include <span>
#include <vector>

#include "model/training/training_page.h"

namespace platen {

enum class Labels {
  kHard,  // the target's own token
  kSoft,  // the softmax over the logits the target was recorded with
};

struct Objective {
  std::vector<double> step_weights;  // of the mean loss of each step; as many as there are steps
  Labels labels = Labels::kHard;
  bool use_mask = false;  // TrainingPage::label_mask
  std::vector<TokenId>
      vocabulary;  // ascending: the tokens the head knows; empty: all. Hard labels.

  int steps() const { return static_cast<int>(step_weights.size()); }
};

// 0.6^d over their sum, for d < steps: early drafts matter most, later ones are only made if these
// were right.
std::vector<double> DecayingStepWeights(int steps);

// The rows of one step of a page, in the order of the graph's vectors.
struct StepLabels {
  std::vector<int64_t> index;   // of the label in the page's ids
  std::vector<uint8_t> counts;  // 0: the row has no loss
  std::vector<int32_t> place;   // of the label in the head: the id, or the place in the vocabulary
};
StepLabels LabelsOf(const TrainingPage& page, const Objective& objective, int step);

// Rows of the step that count, in all pages together: what the step's loss is divided by.
int64_t CountRows(std::span<const TrainingPage* const> pages, const Objective& objective, int step);

}  // namespace platen
