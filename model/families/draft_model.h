// What a family has of its own to draft with (multi-token prediction): a layer that is chained, or
// heads that guess from one hidden vector.
#pragma once

#include <memory>

#include "model/families/workspace.h"
#include "model/ops/row_batch.h"
#include "model/ops/tensor.h"

namespace platen {

// What the layer gave for the rows of the last call, [R, D] each.
struct DraftWorkspace : Workspace {
  Mat pre_norm;  // before the layer's own final norm
  Mat normed;    // after it: what the target's head turns into logits
};

// Slot i takes the target's hidden vector of row i and the embedding of token i + 1, and predicts
// token i + 2. The layer keeps keys and values of its slots in planes of the target's KV blocks.
// Immutable once loaded. Thread-safe with different workspaces and disjoint sequences.
class DraftModel {
 public:
  virtual ~DraftModel() = default;

  virtual std::unique_ptr<DraftWorkspace> MakeWorkspace() const = 0;

  // embeddings, hidden [R, D]; results in `workspace`, which MakeWorkspace made.
  virtual void Forward(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch,
                       KvPool& pool, DraftWorkspace& workspace) const = 0;

  // The same for slots whose own predictions nobody wants: only their keys and values, with the
  // bits that Forward writes. What the workspace gave before is lost.
  virtual void FillCache(ConstMatView embeddings, ConstMatView hidden, const RowBatch& batch,
                         KvPool& pool, DraftWorkspace& workspace) const = 0;
};

// Heads that guess further tokens from the target's hidden vector of one row and nothing else: of
// row i, head k guesses token i + 2 + k. They chain on each other and keep nothing.
// Immutable once loaded. Thread-safe with different workspaces.
class DraftHeads {
 public:
  virtual ~DraftHeads() = default;

  virtual int count() const = 0;
  virtual std::unique_ptr<Workspace> MakeWorkspace() const = 0;

  // x [R, D]: what head k - 1 gave, or the target's hidden vectors for k = 0; becomes what head k
  // gives, which the target's head turns into logits. A row's result does not depend on the others.
  virtual void Apply(int k, MatView x, Workspace& workspace) const = 0;
};

}  // namespace platen
