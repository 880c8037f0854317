// Attention of a draft layer under training. Row r of step d begins at slot i = first_base + r and
// sees what it would see while drafting: the keys of step 0 of slots 0 .. i, and of the steps
// 1 .. d those that its own chain wrote. Source: the training-time test of EAGLE-3.
#pragma once

#include <vector>

#include "model/training/qkv_gradient.h"

namespace platen {

// What all steps wrote: steps[0] of all slots, with queries from first_base on; steps[t] of chains,
// row r of slot first_base + r. Steps have ever fewer rows.
template <class T>
struct ChainSteps {
  int64_t first_base = 0;
  std::vector<QkvRows<T>> steps;
};

// ctx [rows of the step, H * value width] = softmax(scale q k) v.
template <class T>
void AttendChain(const DraftAttention& attention, const ChainSteps<T>& chain, size_t step,
                 View<T> ctx);

// Stores the gradient of the step's queries in d.steps[step].q and adds to those of all keys and
// values it saw. Probabilities are computed again.
template <class T>
void AttendChainGradient(const DraftAttention& attention, const ChainSteps<T>& chain, size_t step,
                         ConstView<T> dctx, ChainSteps<T>& d);

}  // namespace platen
