// How a token is chosen from a row of logits: pure functions.
#pragma once

#include <span>

#include "model/kernels/kernels.h"
#include "model/ops/tensor.h"
#include "model/support/token_id.h"

namespace platen {

// A chosen token and its probability under the softmax of the row it was chosen from; index -1: a
// logit is not a number.
using SampledToken = Selection;

struct SamplerOptions {
  float repetition_penalty = 1.0F;  // 1: none
};

// The tokens before a row: distinct ids of the sequence, and drafts that would stand between them
// and the row. Only what the options need has to be there.
struct TokenHistory {
  std::span<const TokenId> seen;
  std::span<const TokenId> drafts;
};

// Greedy choice from one row of logits [1, vocab]: repetition penalty for every id of the history,
// once, then the largest logit, lowest id on ties. The penalty changes the row.
SampledToken SampleGreedy(const KernelTable& kernels, const SamplerOptions& options,
                          const TokenHistory& history, MatView row);

}  // namespace platen
