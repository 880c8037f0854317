// The text decoder: rows of any number of sequences through layers with a paged cache.
//
// Prompt rows, plain decode rows and verify rows are the same thing: a row writes its key and value
// at its cache index and sees keys 0 .. cache index of its own sequence. R = rows of a batch,
// D = hidden size, H / Hkv query and KV heads of d.
// Source: transformers GlmOcrTextModel (sandwich norms, interleaved M-RoPE, GQA).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "model/families/glm_ocr/weights.h"
#include "model/ops/kv_cache.h"
#include "model/ops/observer.h"

namespace platen {

// Query heads that may share a KV head.
constexpr int kMaxQueryGroup = 256;

// Consecutive rows of one sequence. Row j of the slice has cache index first_index + j.
struct RowSlice {
  const BlockTable* blocks = nullptr;
  int64_t first_row = 0;
  int64_t num_rows = 0;
  int64_t first_index = 0;
};

// A ragged batch. Cache index and rope position are different numbers: after an image the position
// is the smaller one.
struct RowBatch {
  std::vector<RowSlice> slices;
  std::array<std::vector<int32_t>, 3> positions;  // T, H, W rope position of every row

  int64_t num_rows() const { return static_cast<int64_t>(positions[0].size()); }
  void Clear();
  // Appends a slice of rows at consecutive cache indices; positions follow by PushPosition.
  void AddSlice(const BlockTable& blocks, int64_t first_index, int64_t num_rows);
  void PushPosition(int32_t t, int32_t h, int32_t w);
};

// Buffers of one decoder call; grow to the largest batch and stay. One call at a time.
struct DecoderWorkspace {
  LinearWorkspace linear;
  Mat queries;                         // [H][R, d], rotated
  Mat attention_out;                   // [R, H d]
  Mat branch;                          // [R, D]
  Mat cos, sin;                        // [R, d]
  std::vector<const void*> key_pages;  // per layer call: [slices][first heads of tasks][blocks]
  std::vector<const void*> value_pages;
  struct AttentionTask {
    int64_t slice = 0;
    int64_t head = 0;  // the first
    int64_t num_heads = 1;
    int64_t first_row = 0;  // within the slice
    int64_t num_rows = 0;
    int64_t first_page = 0;  // into key_pages
  };
  std::vector<AttentionTask> tasks;
  struct StoreTask {  // rows whose keys and values go to one cache block
    BlockId block = 0;
    int place = 0;  // of the first row in the block
    int64_t first_row = 0;
    int64_t num_rows = 0;
  };
  std::vector<StoreTask> store_tasks;  // per batch, by row
};

// One sandwich-norm layer on all rows of a batch; used by the decoder and by the draft layer.
// x [R, D] is the residual stream, updated in place. Keys and values go to `pool` under
// `cache_layer`. Begin comes before the first layer of a batch.
class DecoderLayerOp {
 public:
  DecoderLayerOp(const TextConfig& config, const KernelTable& kernels);

  // What all layers share: the batch's rope tables, and which rows go to which cache block.
  void Begin(const RowBatch& batch, const KvPool& pool, DecoderWorkspace& ws) const;
  void Run(const DecoderLayerWeights& w, int cache_layer, const RowBatch& batch, const KvPool& pool,
           MatView x, DecoderWorkspace& ws) const;

 private:
  void TakeHeads(int cache_layer, const KvPool& pool, const Linear::Piece& piece,
                 DecoderWorkspace& ws) const;
  void TakeHead(int cache_layer, const KvPool& pool, const DecoderWorkspace::StoreTask& task,
                int head, MatView rows, DecoderWorkspace& ws) const;
  void PlanAttention(int cache_layer, const RowBatch& batch, const KvPool& pool,
                     DecoderWorkspace& ws) const;
  int64_t HeadsPerTask(const RowBatch& batch, const RowSlice& slice) const;
  void Attend(const RowBatch& batch, const KvPool& pool, DecoderWorkspace& ws) const;

  const TextConfig config_;
  const KernelTable& kernels_;
  std::vector<float> inverse_frequencies_;  // [d / 2]
};

// Immutable; Forward is thread-safe with different workspaces and disjoint sequences.
class Decoder {
 public:
  Decoder(const TextConfig& config, const TextWeights& weights, const KernelTable& kernels);

  // x[r] = embed_tokens[ids[r]]
  void Embed(std::span<const TokenId> ids, MatView x) const;
  // All layers. x [R, D]: embeddings in, residual stream out.
  void Forward(const RowBatch& batch, const KvPool& pool, MatView x, DecoderWorkspace& ws,
               const Observer& observer = {}) const;
  // hidden = final norm of x: the vectors that feed the head and the draft layer. x may be hidden.
  void FinalNorm(ConstMatView x, MatView hidden) const;
  // logits [R, vocab] = lm_head(hidden)
  void Logits(ConstMatView hidden, MatView logits, LinearWorkspace& ws) const;

  const DecoderLayerOp& layer_op() const { return layer_; }

 private:
  const TextConfig config_;
  const TextWeights& weights_;
  const KernelTable& kernels_;
  DecoderLayerOp layer_;
};

}  // namespace platen
