// The next draft of a sequence from a drafter's logits.
#pragma once

#include "model/engine/drafters/drafter.h"
#include "model/engine/sampler.h"
#include "model/ops/tensor.h"

namespace platen {

// Chooses from logits [1, vocab] as the target would choose, with the same noise: so a draft is
// right wherever the two agree. Where drafts are judged by their chances they are drawn with noise
// of their own. Sets the proposal's fault if the logits are not finite. Changes the logits.
void AppendDraft(MatView logits, TokenSampler& sampler, Proposal& proposal);

// Whether a proposal is to have one more draft: it plans more, nothing ended it, and by `limits`
// the next one is worth its pass, or all are wanted; else it is marked as unsure. `full`: on even
// after a drafted stop token, behind which nothing is decided.
bool WantsMore(Proposal& proposal, const DraftLimits& limits, bool full);

}  // namespace platen
