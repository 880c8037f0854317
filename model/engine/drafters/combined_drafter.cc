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
    if (p.planned == 0 || !lookup_.CanPropose(*p.sequence)) continue;
    const auto match = FindNgram(DecidedTokens(*p.sequence));
    if (!match) continue;
    found.match = *match;
    found.alone = match->length == kLongestMatch || lookup_.Chance(match->length) >= kSureChance;
    if (!found.alone) continue;
    p.lookup_from = 0;
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
  const auto drafts = static_cast<int64_t>(p.drafts.size());
  const int64_t agreed = std::min(drafts, std::ssize(said) - match.end);
  const auto first = said.begin() + match.end;
  if (agreed < drafts || !std::equal(p.drafts.begin(), p.drafts.end(), first)) return;
  const auto chance = static_cast<float>(lookup_.Chance(match.length));
  p.lookup_from = static_cast<int>(drafts);
  p.match_length = match.length;
  for (int64_t place = match.end + drafts;
       place < std::ssize(said) && static_cast<int>(p.drafts.size()) < p.planned &&
       limits.GoOn(p.probabilities) && !p.sequence->IsStop(p.drafts.back());
       ++place) {
    p.drafts.push_back(said[static_cast<size_t>(place)]);
    p.probabilities.push_back(chance);
    // Certain, where drafts are judged by what they were drawn from.
    if (!p.distributions.empty()) p.distributions.push_back({{p.drafts.back()}, {1.0}});
  }
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
