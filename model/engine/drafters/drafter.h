// Whatever guesses tokens ahead of the target.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model/engine/draft_planner.h"
#include "model/engine/sampler.h"
#include "model/engine/sequence.h"
#include "model/ops/observer.h"
#include "model/ops/row_batch.h"
#include "model/ops/tensor.h"

namespace platen {

// Drafts for one sequence in one round. Kept over rounds by the engine, so that making drafts need
// not allocate.
struct Proposal {
  Sequence* sequence = nullptr;
  int planned = 0;                   // drafts to make
  bool whole = false;                // all of them, by the draft layer, and all verified
  std::vector<TokenId> drafts;       // made by Drafter::Propose, at most `planned`
  std::vector<float> probabilities;  // of each draft, in the drafter's eyes
  // What each draft was drawn from; none: they were not drawn (see JudgedDrafts).
  std::vector<TokenDistribution> distributions;
  int match_length = 0;  // of the lookup that gave some of them; 0: none
  // What the lookup says of the next token, and the place in the sequence's tokens where that
  // comes.
  TokenId guess = 0;
  size_t guess_place = 0;
  int lookup_from = 0;          // the first draft that it gave
  bool unsure = false;          // ended where further drafts were not worth their passes
  const char* fault = nullptr;  // why the drafter could not go on; static text
  bool retry = false;           // the engine's: verify once more, alone and without drafts

  void Clear() {
    whole = false;
    drafts.clear();
    probabilities.clear();
    distributions.clear();
    match_length = 0;
    lookup_from = 0;
    unsure = false;
    fault = nullptr;
  }
};

// Owns what it keeps for each sequence, by SequenceId. A draft is a guess: it can cost time, never
// change a token, and whatever a call throws ends drafting for the sequences it was about, for a
// while or for good, and nothing else (the engine calls Forget then).
//
// Thread-safety: Observe belongs to the prefill stage, Propose and Commit to the decode stage; the
// two stages may run at the same time on different sequences. Forget from any thread, for a
// sequence that is in no other call.
class Drafter {
 public:
  virtual ~Drafter() = default;

  virtual std::string_view name() const = 0;

  // After a prefill: `batch` holds the rows of the sequences, a slice each, hidden [R, D] what the
  // target made of them. Replaces what was kept for these sequences. warm_up: prepare for drafting
  // at once; else as cheaply as possible, because drafts do not pay at present.
  virtual void Observe(std::span<Sequence* const> sequences, const RowBatch& batch,
                       ConstMatView hidden, bool warm_up) = 0;

  // Whether drafts can be made for the sequence now.
  virtual bool CanPropose(const Sequence& sequence) const = 0;

  // Whether the sequence's next round should be made as planned, whatever the chances of its
  // drafts: Proposal::whole. Of the decode stage.
  virtual bool WantsWhole(const Sequence& /*sequence*/) const { return false; }

  // Fills `drafts` and `probabilities` of every proposal that plans some, as far as the drafter can
  // and `limits` let it. What it cost is added to `costs`.
  virtual void Propose(std::span<Proposal> proposals, const DraftLimits& limits,
                       DraftCosts& costs) = 0;

  // hidden [m, D]: the rows just committed at the sequence's cache_len, m >= 1, which has not grown
  // by them yet. For a sequence that was forgotten, a new beginning.
  virtual void Commit(const Sequence& sequence, ConstMatView hidden) = 0;

  // After the drafts of a proposal were judged: the first `accepted` were right.
  virtual void Learn(const Proposal& /*proposal*/, int /*accepted*/) {}

  virtual void Forget(SequenceId sequence) noexcept = 0;

  // Whether other drafts are made from now on, so that what was learnt of their chances no longer
  // holds; says so once. Of the decode stage.
  virtual bool TakeChange() { return false; }
};

}  // namespace platen
