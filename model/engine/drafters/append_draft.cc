#include "model/engine/drafters/append_draft.h"

namespace platen {

void AppendDraft(MatView logits, TokenSampler& sampler, Proposal& p) {
  const Sequence& s = *p.sequence;
  const SamplingOptions& sampling = s.request.sampling;
  TokenContext context = s.NextToken();
  context.drafts = p.drafts;
  context.place += static_cast<int64_t>(p.drafts.size());
  SampledToken draft = {-1, 0};
  if (sampler.Begin(sampling, context, logits)) {
    const bool judged = !sampling.lossless() && sampling.acceptance == AcceptanceRule::kRejection;
    draft = sampler.Chosen(judged ? Noise::kDraft : Noise::kPlain);
    if (judged) sampler.Distribution(p.distributions.emplace_back());
  }
  if (draft.index < 0) {
    p.fault = "the logits of a draft are not finite";
    return;
  }
  p.drafts.push_back(draft.index);
  p.probabilities.push_back(draft.probability);
}

bool WantsMore(Proposal& p, const DraftLimits& limits, bool full) {
  if (p.fault != nullptr || static_cast<int>(p.drafts.size()) >= p.planned) return false;
  if (!full && p.sequence->IsStop(p.drafts.back())) return false;
  p.unsure = !p.whole && !limits.GoOn(p.probabilities);
  return !p.unsure;
}

}  // namespace platen
