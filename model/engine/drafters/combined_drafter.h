// Lookup and draft layer together: what is all but sure is looked up and costs no pass; else the
// draft layer guesses, and where it says what was looked up, that goes on behind its drafts.
#pragma once

#include <memory>
#include <vector>

#include "model/engine/drafters/ngram_lookup.h"

namespace platen {

class CombinedDrafter final : public Drafter {
 public:
  explicit CombinedDrafter(std::unique_ptr<Drafter> layer) : layer_(std::move(layer)) {}

  std::string_view name() const override { return "mtp,ngram"; }
  void Observe(std::span<Sequence* const> sequences, const RowBatch& batch, ConstMatView hidden,
               bool warm_up) override;
  bool CanPropose(const Sequence& sequence) const override;
  bool WantsWhole(const Sequence& sequence) const override { return layer_->WantsWhole(sequence); }
  void Propose(std::span<Proposal> proposals, const DraftLimits& limits,
               DraftCosts& costs) override;
  void Commit(const Sequence& sequence, ConstMatView hidden) override;
  void Learn(const Proposal& proposal, int accepted) override;
  void Forget(SequenceId sequence) noexcept override;
  bool TakeChange() override { return layer_->TakeChange(); }

 private:
  struct Found {
    int planned = 0;     // of the proposal, while the draft layer must leave it alone
    NgramMatch match;    // length 0: none
    bool alone = false;  // the lookup's drafts are enough
  };

  void GoOn(Proposal& p, const NgramMatch& match, const DraftLimits& limits) const;

  NgramLookup lookup_;
  std::unique_ptr<Drafter> layer_;
  std::vector<Found> found_;  // of the proposals of one call
};

}  // namespace platen
