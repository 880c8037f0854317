// The decoder: rows of any number of sequences through layers with latent attention and experts.
//
// R = rows of a batch, D = hidden size, H heads. Norms come before the branches:
//   x += scale * attention(norm(x));  x += scale * mlp(norm(x))
// Source: MiniLLM's model, transformers' DeepseekV3Model; the absorbed form of DeepSeek-V2,
// arXiv:2405.04434.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/families/minillm/indexer.h"
#include "model/families/minillm/mlp.h"
#include "model/families/minillm/modules.h"
#include "model/families/minillm/rotary_tables.h"
#include "model/families/text_model.h"
#include "model/ops/latent_attention.h"

namespace platen::minillm {

struct DecoderWorkspace : Workspace {
  Mat cos, sin;  // [R, Dr]
  Mat normed;    // [R, D]
  Mat input;     // [R, query part + Rk + Dr]
  Mat q_latent;  // [R, Rq]
  Mat queries;   // [R, H (Dn + Dr)]
  Mat expanded;  // [R, H Dv]
  Mat branch;    // [R, D]
  LatentWorkspace attention;
  IndexWorkspace index;
  MlpWorkspace mlp;
};

// One layer on all rows of a batch; used by the decoder and by the draft layer. x [R, D] is the
// residual stream, updated in place. Begin comes before the first layer of a batch.
class LayerOp {
 public:
  // `weights` hold the stored rotary tables; they and `kernels` outlive the object.
  LayerOp(const Config& config, const Weights& weights, const KernelTable& kernels);

  void Begin(const RowBatch& batch, const KvPool& pool, DecoderWorkspace& ws) const;
  // `layer` is its plane of the cache and its number in the observer's names.
  void Run(const LayerWeights& w, int layer, const RowBatch& batch, KvPool& pool, MatView x,
           DecoderWorkspace& ws, const Observer& observer) const;
  // The latents alone, of a layer without an index.
  void FillCache(const LayerWeights& w, int layer, KvPool& pool, ConstMatView x,
                 DecoderWorkspace& ws) const;

 private:
  void Attend(const LayerWeights& layer_weights, int layer, const RowBatch& batch, KvPool& pool,
              MatView out, DecoderWorkspace& ws, const Observer& observer) const;
  // First parts of queries and latents [R, query part + Rk + Dr], of which the latents are stored.
  MatView Project(const AttentionWeights& w, int layer, ConstMatView x, KvPool& pool,
                  DecoderWorkspace& ws, const Observer& observer) const;
  void StoreLatents(const AttentionWeights& w, int layer, MatView latents, KvPool& pool,
                    DecoderWorkspace& ws, const Observer& observer) const;
  // Which keys the rows keep; nullptr: all.
  const KeptKeys* Choose(const LayerWeights& w, int layer, const RowBatch& batch, KvPool& pool,
                         DecoderWorkspace& ws, const Observer& observer) const;
  void MakeQueries(const AttentionWeights& w, DecoderWorkspace& ws) const;
  // Notes in ws.attention which weights are read behind the attention of so many rows.
  void NoteReadNext(const LayerWeights& w, int64_t rows, DecoderWorkspace& ws) const;
  void Add(MatView branch, int layer, MatView x) const;

  const Config config_;
  const KernelTable& kernels_;
  const RotaryTables rotary_;
  const LatentAttention attention_;
  const Experts experts_;
  const Indexer indexer_;
};

class Decoder final : public TextModel {
 public:
  // `weights` and `kernels` outlive the decoder; the weights may be loaded after it is made.
  Decoder(const Config& config, const Weights& weights, const KernelTable& kernels);

  std::unique_ptr<Workspace> MakeWorkspace() const override;
  void Embed(std::span<const TokenId> ids, MatView x) const override;
  void Forward(const RowBatch& batch, KvPool& pool, MatView x, Workspace& workspace,
               const Observer& observer) const override;
  void Logits(ConstMatView hidden, MatView logits, Workspace& workspace) const override;

 private:
  const Config config_;
  const Weights& weights_;
  const KernelTable& kernels_;
  const LayerOp layer_;
};

// How the latents of a model of this config are attended.
LatentShape LatentShapeOf(const Config& config);

// The planes of the cache: latents of every layer, keys of its index if it has one, latents of the
// draft layer. `target`: how many of them the decoder reads.
CacheShape CacheShapeOf(const Config& config, int* target);

}  // namespace platen::minillm
