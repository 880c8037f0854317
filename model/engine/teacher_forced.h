// What a model says at every place of a given answer: its logits when the tokens before are decided
// by somebody else. Two models are compared place by place on the same tokens this way.
#pragma once

#include <span>

#include "model/families/text_model.h"

namespace platen {

class Model;
struct Sequence;

// One call at a time. `model` outlives it.
class TeacherForcedPass {
 public:
  explicit TeacherForcedPass(const Model& model);

  // Hidden vectors [answer.size(), D]; row i decides answer[i], seeing the prompt and the images of
  // `sequence` (Engine::EncodeImages) and answer[0 .. i-1]. Bit for bit what the engine computes
  // for the same tokens. Valid until the next call. `answer` is not empty. Throws Error(kInput) if
  // the model has too few positions, Error(kEnvironment) if there is no memory for the cache.
  ConstMatView Hidden(const Sequence& sequence, std::span<const TokenId> answer);

  // Hidden vectors [prompt + answer.size(), D] of all rows; row i has seen rows 0..i, images too.
  // `answer` may be empty. Otherwise as Hidden.
  ConstMatView HiddenOfAll(const Sequence& sequence, std::span<const TokenId> answer);

  // hidden [n, D] -> logits [n, vocab], valid until the next call.
  ConstMatView Logits(ConstMatView hidden);

  Workspace& workspace() { return *workspace_; }

 private:
  const Model& model_;
  std::unique_ptr<Workspace> workspace_;
  Mat rows_;
  Mat logits_;
};

}  // namespace platen
