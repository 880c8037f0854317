// The target's two passes over rows of sequences: prompts, and anchors with their drafts.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/engine/drafters/drafter.h"
#include "model/engine/sampler.h"
#include "model/families/model.h"

namespace platen {

// Buffers of a pass; one call at a time. `model` and `pool` outlive them.

// Prompt rows of several sequences as one ragged batch.
class PrefillPass {
 public:
  PrefillPass(const Model& model, KvPool& pool);

  // Fills the cache of the sequences, which hold their blocks and embeddings.
  void Run(std::span<Sequence* const> sequences, const Observer& observer);

  // Of the last Run: its rows, the hidden vectors [R, D] of all of them, and what the target
  // chooses after the prompt of sequence i.
  const RowBatch& batch() const { return batch_; }
  ConstMatView hidden() const { return x_.View(); }
  SampledToken first_token(size_t i) const { return first_tokens_[i]; }

 private:
  const Model& model_;
  KvPool& pool_;
  std::unique_ptr<Workspace> workspace_;
  RowBatch batch_;
  Mat x_, last_, logits_;
  std::vector<SampledToken> first_tokens_;
};

// The newest decided token of several sequences and the drafts behind it.
class VerifyPass {
 public:
  VerifyPass(const Model& model, KvPool& pool);

  // Reads the sequences and writes cache rows at and beyond their lengths: it can be run again.
  void Run(std::span<const Proposal> proposals);

  int64_t num_rows() const { return batch_.num_rows(); }
  // Of proposal i of the last Run: what the target chose at each of its drafts.size() + 1 rows, and
  // the rows' hidden vectors.
  std::span<const SampledToken> chosen(size_t i) const;
  ConstMatView hidden(size_t i) const;

 private:
  const Model& model_;
  KvPool& pool_;
  std::unique_ptr<Workspace> workspace_;
  RowBatch batch_;
  Mat x_, logits_;
  std::vector<TokenId> ids_;
  std::vector<SampledToken> chosen_;
};

}  // namespace platen
