// The target's two passes over rows of sequences: prompts, and anchors with their drafts.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/engine/acceptance.h"
#include "model/engine/drafters/drafter.h"
#include "model/engine/fault_point.h"
#include "model/engine/sampler.h"
#include "model/families/model.h"

namespace platen {

// Buffers of a pass; one call at a time. `model` and `pool` outlive them.

// Rows of several sequences up to their newest decided token, as one ragged batch: their prompts,
// and for a sequence that was preempted what it had decided.
class PrefillPass {
 public:
  PrefillPass(const Model& model, KvPool& pool);

  // Fills the cache of the sequences, which hold their blocks and embeddings.
  void Run(std::span<Sequence* const> sequences, const Observer& observer);

  // Of the last Run: its rows, the hidden vectors [R, D] of all of them, and what the target
  // chooses after the prompt of sequence i, which had decided nothing.
  const RowBatch& batch() const { return batch_; }
  ConstMatView hidden() const { return x_.View(); }
  SampledToken first_token(size_t i) const { return first_tokens_[i]; }

 private:
  void ChooseFirstTokens(std::span<Sequence* const> sequences, const Observer& observer);

  const Model& model_;
  KvPool& pool_;
  std::unique_ptr<Workspace> workspace_;
  RowBatch batch_;
  Mat x_, last_, logits_;
  TokenSampler sampler_;
  std::vector<SampledToken> first_tokens_;  // by sequence; nothing for those that had decided
};

// The newest decided token of several sequences and the drafts behind it.
class VerifyPass {
 public:
  VerifyPass(const Model& model, KvPool& pool, const FaultPoint& fault_point);

  // Reads the sequences and writes cache rows at and beyond their lengths: it can be run again.
  void Run(std::span<const Proposal> proposals);

  int64_t num_rows() const { return batch_.num_rows(); }
  // Of proposal i of the last Run: what the target chose at each of its drafts.size() + 1 rows, and
  // the rows' hidden vectors.
  std::span<const SampledToken> chosen(size_t i) const;
  ConstMatView hidden(size_t i) const;
  // How many of its drafts are kept: chosen[0 .. accepted] are the tokens decided; and whether all
  // of them came from logits that are numbers.
  int accepted(size_t i) const { return accepted_[i]; }
  bool finite(size_t i) const { return chosen(i)[static_cast<size_t>(accepted_[i])].index >= 0; }

 private:
  std::span<SampledToken> RowsOf(const RowSlice& slice);

  const Model& model_;
  KvPool& pool_;
  std::unique_ptr<Workspace> workspace_;
  RowBatch batch_;
  Mat x_, logits_;
  std::vector<TokenId> ids_;
  std::vector<SampledToken> chosen_;                         // by row
  std::vector<int> accepted_;                                // by proposal
  std::vector<std::unique_ptr<AcceptanceScratch>> scratch_;  // likewise
  FaultPoint fault_point_;
  Observer observer_;
};

}  // namespace platen
