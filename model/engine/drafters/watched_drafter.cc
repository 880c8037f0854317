#include "model/engine/drafters/watched_drafter.h"

#include <cstdio>

namespace platen {

WatchedDrafter::WatchedDrafter(std::unique_ptr<Drafter> from_file, std::unique_ptr<Drafter> own,
                               DraftWatch watch, std::function<void(const std::string&)> told)
    : from_file_(std::move(from_file)),
      own_(std::move(own)),
      told_(std::move(told)),
      watch_(std::move(watch)) {}

void WatchedDrafter::Observe(std::span<Sequence* const> sequences, const RowBatch& batch,
                             ConstMatView hidden, bool warm_up) {
  if (Drafter* drafter = Now()) drafter->Observe(sequences, batch, hidden, warm_up);
}

bool WatchedDrafter::CanPropose(const Sequence& sequence) const {
  const Drafter* drafter = Now();
  return drafter != nullptr && drafter->CanPropose(sequence);
}

// Drafts of drawn tokens are right less often than those that were judged.
bool WatchedDrafter::WantsWhole(const Sequence& sequence) const {
  return !given_up_ && sequence.request.sampling.greedy() && CanPropose(sequence) &&
         watch_.Wants(sequence.result.stats.rounds + static_cast<int64_t>(sequence.id));
}

void WatchedDrafter::Propose(std::span<Proposal> proposals, const DraftLimits& limits,
                             DraftCosts& costs) {
  if (Drafter* drafter = Now()) drafter->Propose(proposals, limits, costs);
}

void WatchedDrafter::Commit(const Sequence& sequence, ConstMatView hidden) {
  if (Drafter* drafter = Now()) drafter->Commit(sequence, hidden);
}

void WatchedDrafter::Learn(const Proposal& proposal, int accepted) {
  if (Drafter* drafter = Now()) drafter->Learn(proposal, accepted);
  if (given_up_ || !proposal.whole || proposal.planned == 0 || proposal.fault != nullptr) return;
  watch_.Add(proposal.planned, accepted);
  if (!watch_.worse()) return;
  given_up_ = changed_ = true;
  char text[160];
  std::snprintf(text, sizeof(text),
                "%.2f tokens a round in %lld rounds that were watched, where the model's own gave "
                "%.2f when they were judged",
                watch_.tokens_per_round(), static_cast<long long>(watch_.watched()),
                watch_.own_tokens_per_round());
  if (told_) told_(text);
}

void WatchedDrafter::Forget(SequenceId sequence) noexcept {
  from_file_->Forget(sequence);
  if (own_ != nullptr) own_->Forget(sequence);
}

}  // namespace platen
