// A draft layer or draft heads on a whole page at once, every token known (teacher forcing),
// forward and backward.
//
// A page has P prompt tokens and L in all. Step d of slot i sees token i + d + 1 and guesses token
// i + d + 2; slots begin at P - 1, so step d has L - 1 - d - P rows (or none), row r of slot
// P - 1 + r. For heads, step d is head d.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "model/training/parameters.h"

namespace platen {

inline int64_t RowsOfStep(int64_t prompt, int64_t length, int step) {
  return std::max<int64_t>(0, length - 1 - step - prompt);
}

// What is given for a page; views live as long as Forward and Backward.
template <class T>
struct GraphPage {
  int64_t prompt = 0;                                 // P
  ConstView<T> embeddings;                            // [L, D] of the tokens
  ConstView<T> hidden;                                // [L - 1, D], the target's, final norm passed
  std::array<std::span<const int32_t>, 3> positions;  // [L] each: T, H, W of the tokens

  int64_t length() const { return embeddings.rows; }
};

// Rows of step 0 that go through all steps together, forward and backward: what is held of a page
// grows with its length by a few vectors a token only.
inline constexpr int64_t kRowsOfBlock = 512;

// Of a block of rows from `first` on, those of one step.
inline Range RowsOfBlock(int64_t prompt, int64_t length, int step, int64_t first, int64_t count) {
  return {first, std::clamp<int64_t>(RowsOfStep(prompt, length, step) - first, 0, count)};
}

// One page at a time: Begin; Forward and Backward of one block of rows after the other, in order;
// Finish. Without gradients Backward and Finish are left out. Not thread-safe; its loops use the
// worker pool.
template <class T>
class DraftGraph {
 public:
  virtual ~DraftGraph() = default;

  // No block has more than `most_rows`.
  virtual void Begin(const GraphPage<T>& page, int steps, int64_t most_rows = kRowsOfBlock) = 0;

  // All steps of rows first .. first + count - 1 of step 0, and the rows of later steps that begin
  // at the same slots.
  virtual void Forward(int64_t first, int64_t count) = 0;

  // [rows of the step, D] of the last Forward: what the target's head turns into logits.
  virtual ConstView<T> Vectors(int step) const = 0;

  // dvectors[d]: the gradient at Vectors(d), for every step of the last Forward. Adds gradients of
  // the trained tensors.
  virtual void Backward(std::span<const ConstView<T>> dvectors) = 0;

  // Adds the gradients that needed all blocks: through the keys and values of step 0.
  virtual void Finish() = 0;
};

// How a chain goes on: with what its final norm gave, or with what went into it.
enum class ChainOn { kNormed, kPreNorm };

// `parameters` outlive the graph. `chain_on` is of no meaning for heads.
template <class T>
std::unique_ptr<DraftGraph<T>> MakeDraftGraph(Parameters<T>& parameters, ChainOn chain_on);

}  // namespace platen
