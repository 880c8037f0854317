#include "model/engine/drafters/combined_drafter.h"

#include <algorithm>

namespace platen {
namespace {

// A match of all tokens that are compared, or one that has proved right so often, needs no second
// opinion.
constexpr double kSureChance = 0.85;

}  // namespace

void CombinedDrafter::Observe(std::span<Sequence* const> sequences, const RowBatch& batch,
                              ConstMatView hidden, bool warm_up) {
  layer_->Observe(sequences, batch, hidden, warm_up);
}

bool CombinedDrafter::CanPropose(const Sequence& sequence) const {
  return layer_->CanPropose(sequence) || lookup_.CanPropose(sequence);
}

void CombinedDrafter::Propose(std::span<Proposal> proposals, const DraftLimits& limits,
                              DraftCosts& costs) {
  found_.assign(proposals.size(), {});
  for (size_t i = 0; i < proposals.size(); ++i) {
    Proposal& p = proposals[i];
    Found& found = found_[i];
    found.planned = p.planned;
    if (p.planned == 0 || p.whole || !NgramLookup::Allowed(*p.sequence)) continue;
    const auto match = FindNgram(DecidedTokens(*p.sequence));
    if (!match) continue;
    found.match = *match;
    lookup_.Guess(p, *match);
    found.alone = match->length == kLongestMatch || lookup_.Chance(match->length) >= kSureChance;
    if (!found.alone) continue;
    lookup_.Fill(p, *match, limits);
    p.planned = 0;  // nothing left for the draft layer
  }
  layer_->Propose(proposals, limits, costs);
  for (size_t i = 0; i < proposals.size(); ++i) {
    Proposal& p = proposals[i];
    p.planned = found_[i].planned;
    if (found_[i].match.length > 0 && !found_[i].alone) GoOn(p, found_[i].match, limits);
  }
}

// Behind the draft layer's drafts, if they are what followed the match the last time.
void CombinedDrafter::GoOn(Proposal& p, const NgramMatch& match, const DraftLimits& limits) const {
  if (p.drafts.empty() || p.fault != nullptr || p.sequence->IsStop(p.drafts.back())) return;
  const std::span<const TokenId> said = DecidedTokens(*p.sequence);
  for (size_t j = 0; j < p.drafts.size(); ++j) {
    if (p.drafts[j] != TokenBehind(said, match, p.drafts, j)) return;
  }
  if (p.unsure = !limits.GoOn(p.probabilities); !p.unsure) lookup_.Fill(p, match, limits);
}

void CombinedDrafter::Commit(const Sequence& sequence, ConstMatView hidden) {
  layer_->Commit(sequence, hidden);
}

void CombinedDrafter::Learn(const Proposal& proposal, int accepted) {
  lookup_.Learn(proposal, accepted);
  layer_->Learn(proposal, accepted);
}

void CombinedDrafter::Forget(SequenceId sequence) noexcept { layer_->Forget(sequence); }

}  // namespace platen
