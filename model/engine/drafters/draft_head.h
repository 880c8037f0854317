// Scores of tokens from what a draft layer gives: by the target's head, or by those of its rows
// that belong to a draft vocabulary (draft_vocabulary.h).
#pragma once

#include <span>
#include <vector>

#include "model/families/model.h"

namespace platen {

// One call of Logits at a time.
class DraftHead {
 public:
  // `vocabulary` empty: all tokens. Else the model's stop tokens belong to it too. Packs rows of
  // the head from the checkpoint, in the model's precision; throws Error(kModel) if they are not
  // finite. The model outlives the head.
  DraftHead(const Model& model, std::span<const TokenId> vocabulary);

  // hidden [R, D] -> logits [R, vocab]: the target's head's, bit for bit, and minus infinity for
  // tokens outside the vocabulary.
  void Logits(ConstMatView hidden, MatView logits, Workspace& workspace);

 private:
  const Model& model_;
  std::vector<TokenId> ids_;  // ascending; empty: all
  Linear rows_;               // of the ids
  Mat scores_;                // [R, ids]
  LinearWorkspace linear_;
};

}  // namespace platen
