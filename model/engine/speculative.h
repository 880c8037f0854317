// Drafting with the MTP layer, and the choice of a token from a row of logits.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/engine/engine.h"
#include "model/engine/sequence.h"
#include "model/families/draft_model.h"
#include "model/kernels/kernels.h"

namespace platen {

class Model;

// Drafts for one sequence in one round.
struct Proposal {
  Sequence* sequence = nullptr;
  int planned = 0;              // drafts to make, 0 .. draft_length
  std::vector<TokenId> drafts;  // made by Drafter::Draft, at most `planned`
};

// Greedy choice from one row of logits [1, vocab]: repetition penalty for every id already in the
// sequence or in `prefix` (drafts before this row), then the largest logit, lowest id on ties. The
// row is changed by the penalty. index -1 if a logit is not a number.
Selection SelectToken(const KernelTable& kernels, const Sequence& sequence,
                      std::span<const TokenId> prefix, MatView row);

// Runs the draft layer for all sequences at once. Does nothing (and drafts nothing) if the model
// has none or the draft length is 0. WarmUp belongs to the prefill stage, the others to the decode
// stage; the two may run at the same time on different sequences.
class Drafter {
 public:
  // `options` is read at every call, so that its owner may still complete it.
  Drafter(const Model& model, KvPool& pool, const EngineOptions& options);

  // Fills the draft layer's cache for the prompts: slots 0 .. P - 2. Slot P - 1 needs the first
  // generated token and lags. hidden [R, D] of all rows of `batch`.
  void WarmUp(std::span<Sequence* const> sequences, const RowBatch& batch, ConstMatView hidden);

  // Drafts worth making for the sequence in its next round.
  int PlannedDrafts(const Sequence& sequence) const;

  // Extends every planned sequence's slots to its cache length with true hidden vectors (committed
  // work), then chains further drafts from the layer's own output.
  void Draft(std::span<Proposal> proposals);

  // Takes over the hidden vectors [m, D] of rows just committed at cache_len ...
  void KeepHidden(Sequence& sequence, ConstMatView hidden) const;

 private:
  // Buffers of one pass of the draft layer.
  struct Pass {
    RowBatch batch;
    std::vector<TokenId> ids;
    Mat embeddings;
    Mat hidden;
    std::unique_ptr<DraftWorkspace> layer;
    Mat head_in;
    Mat logits;
  };

  bool enabled() const;
  void PushSlotPosition(const Sequence& s, int64_t slot, RowBatch& batch) const;
  void EmbedSlots(Pass& pass) const;
  void Extend(std::span<Proposal* const> active);
  void Chain(std::span<Proposal* const> active);
  void AppendDrafts(std::span<Proposal* const> active, std::span<const int64_t> rows);
  bool WantsMore(const Proposal& p) const;

  const Model& model_;
  KvPool& pool_;
  const EngineOptions& options_;
  Pass warm_up_;
  Pass draft_;
  Mat chain_hidden_;  // [active, D] input of the next chained step
};

}  // namespace platen
