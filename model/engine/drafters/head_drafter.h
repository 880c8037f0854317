// Drafts by the model's own draft heads: guesses from the hidden vector of the last row.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "model/engine/drafters/draft_head.h"
#include "model/engine/drafters/drafter.h"
#include "model/families/model.h"

namespace platen {

struct HeadDrafterOptions {
  const DraftHeads* heads = nullptr;  // nullptr: those the model drafts with
  std::vector<TokenId> vocabulary;    // the tokens it chooses among; empty: all
  // Draft on even after a drafted stop token; comparisons with the reference need it.
  bool full_drafts = false;
  Observer observer;
};

// Keeps one hidden vector for each sequence, so it can draft after every row. A row i of it is the
// target's, behind which token i + 1 is decided; head k then guesses token i + 2 + k. No more
// drafts than there are heads.
class HeadDrafter final : public Drafter {
 public:
  // `model` and the heads outlive the drafter.
  HeadDrafter(const Model& model, HeadDrafterOptions options);

  std::string_view name() const override { return "mtp"; }
  void Observe(std::span<Sequence* const> sequences, const RowBatch& batch, ConstMatView hidden,
               bool warm_up) override;
  bool CanPropose(const Sequence& sequence) const override;
  void Propose(std::span<Proposal> proposals, const DraftLimits& limits,
               DraftCosts& costs) override;
  void Commit(const Sequence& sequence, ConstMatView hidden) override;
  void Forget(SequenceId sequence) noexcept override;

 private:
  void Keep(const Sequence& sequence, const float* hidden);
  std::vector<float>* Find(SequenceId sequence) const;
  void Guess(int k);
  void KeepThoseThatWantMore(const DraftLimits& limits);

  const Model& model_;
  const HeadDrafterOptions options_;
  const DraftHeads& heads_;
  DraftHead head_;

  // Of the decode stage.
  std::vector<Proposal*> active_;       // sequences that go on drafting
  std::vector<TokenSampler> samplers_;  // of each
  Mat hidden_;                          // [active, D]: what their last head gave
  Mat logits_;
  std::unique_ptr<Workspace> workspace_;

  mutable std::mutex mutex_;  // guards the map, not what it points to
  std::unordered_map<SequenceId, std::unique_ptr<std::vector<float>>> last_rows_;
};

}  // namespace platen
