// Drafts by weights of a file as long as they are worth it, then by the model's own.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "model/engine/draft_watch.h"
#include "model/engine/drafters/drafter.h"

namespace platen {

// Sequences that are decoded when the model's own take over begin anew with them, behind their
// newest row.
class WatchedDrafter final : public Drafter {
 public:
  // `own` may be null: then nobody drafts in their place. `told`: why the model's own take over,
  // once, from the decode stage.
  WatchedDrafter(std::unique_ptr<Drafter> from_file, std::unique_ptr<Drafter> own, DraftWatch watch,
                 std::function<void(const std::string&)> told);

  std::string_view name() const override { return "mtp"; }
  void Observe(std::span<Sequence* const> sequences, const RowBatch& batch, ConstMatView hidden,
               bool warm_up) override;
  bool CanPropose(const Sequence& sequence) const override;
  bool WantsWhole(const Sequence& sequence) const override;
  void Propose(std::span<Proposal> proposals, const DraftLimits& limits,
               DraftCosts& costs) override;
  void Commit(const Sequence& sequence, ConstMatView hidden) override;
  void Learn(const Proposal& proposal, int accepted) override;
  void Forget(SequenceId sequence) noexcept override;
  bool TakeChange() override { return std::exchange(changed_, false); }

 private:
  // Who drafts now; nullptr: nobody.
  Drafter* Now() const { return given_up_ ? own_.get() : from_file_.get(); }

  const std::unique_ptr<Drafter> from_file_, own_;
  const std::function<void(const std::string&)> told_;
  DraftWatch watch_;  // of the decode stage
  bool changed_ = false;
  std::atomic<bool> given_up_ = false;
};

}  // namespace platen
