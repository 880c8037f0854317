// A family's own draft layer (multi-token prediction), as the drafter that chains it sees it.
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
};

}  // namespace platen
