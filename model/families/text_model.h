// The decoder of a family, as the engine sees it.
//
// R = rows of a batch, D = hidden size. Prompt rows, plain decode rows and verify rows are the same
// thing: a row writes its key and value at its cache index and sees keys 0 .. cache index of its
// own sequence. What a row gives never depends on the other rows of the batch.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "model/families/workspace.h"
#include "model/ops/cache_shape.h"
#include "model/ops/observer.h"
#include "model/ops/row_batch.h"
#include "model/ops/tensor.h"
#include "model/support/token_id.h"

namespace platen {

// Arithmetic of one query row over one key, in all layers together: heads x (key width + value
// width) multiplications and as many additions.
struct AttentionShape {
  int layers = 0;
  int heads = 0;  // query heads
  int key_width = 0;
  int value_width = 0;

  double operations_per_key() const { return 2.0 * layers * heads * (key_width + value_width); }
};

// What generic code needs to know of a decoder before it is loaded.
struct TextSizes {
  std::string config_field;  // where config.json describes it: "text_config."; "": at the root
  int vocab_size = 0;
  int hidden_size = 0;
  int max_positions = 0;
  int num_draft_layers = 0;  // or heads; 0: the family has none, or this snapshot has none
  CacheShape cache;
  int num_target_planes =
      0;  // planes of `cache` the decoder reads; the rest belong to the draft layer
  AttentionShape attention;
};

// Immutable once loaded. Thread-safe with different workspaces and disjoint sequences.
class TextModel {
 public:
  virtual ~TextModel() = default;

  virtual std::unique_ptr<Workspace> MakeWorkspace() const = 0;

  // x[r] = the embedding of ids[r]; x [ids.size(), D].
  virtual void Embed(std::span<const TokenId> ids, MatView x) const = 0;

  // All layers and the final norm. x [R, D]: embeddings in, hidden vectors out.
  virtual void Forward(const RowBatch& batch, KvPool& pool, MatView x, Workspace& workspace,
                       const Observer& observer) const = 0;

  // logits [R, vocab] of hidden vectors [R, D].
  virtual void Logits(ConstMatView hidden, MatView logits, Workspace& workspace) const = 0;
};

}  // namespace platen
