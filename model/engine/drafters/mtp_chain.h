// Drafts by the model's own draft layer (multi-token prediction), chained on its own output.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "model/engine/drafters/drafter.h"
#include "model/engine/mtp_convention.h"
#include "model/families/model.h"

namespace platen {

struct MtpChainOptions {
  MtpConvention convention;
  // Chain on even after a drafted stop token, behind which nothing is decided; comparisons with the
  // reference need it.
  bool full_drafts = false;
  Observer observer;
};

class MtpChain final : public Drafter {
 public:
  // `model`, which has a draft layer, and `pool` outlive the drafter.
  MtpChain(const Model& model, KvPool& pool, MtpChainOptions options);

  std::string_view name() const override { return "mtp"; }
  void Observe(std::span<Sequence* const> sequences, const RowBatch& batch,
               ConstMatView hidden) override;
  bool CanPropose(const Sequence& sequence) const override;
  void Propose(std::span<Proposal> proposals) override;
  void Commit(const Sequence& sequence, ConstMatView hidden) override;
  void Forget(SequenceId sequence) noexcept override;

 private:
  // Slots 0 .. len - 1 of the draft layer are in its cache; `lagging` holds the target's hidden
  // vectors of rows len .. cache_len - 1 and no others.
  struct State {
    int64_t len = 0;
    Mat lagging;
  };
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
  struct Active {
    Proposal* proposal = nullptr;
    State* state = nullptr;
  };

  State* Find(SequenceId sequence) const;
  void PushSlotPosition(const Sequence& s, int64_t slot, RowBatch& batch) const;
  void EmbedSlots(Pass& pass) const;
  void FillPromptSlots(std::span<Sequence* const> sequences, const RowBatch& batch,
                       ConstMatView hidden);
  void Extend(std::span<const Active> active);
  void Chain(std::span<const Active> active);
  void AppendDrafts(std::span<const Active> active, std::span<const int64_t> rows);
  std::vector<Active> KeepThoseThatWantMore(std::span<const Active> active);

  const Model& model_;
  KvPool& pool_;
  const MtpChainOptions options_;
  Pass warm_up_;      // of the prefill stage
  Pass draft_;        // of the decode stage
  Mat chain_hidden_;  // [active, D] input of the next chained step

  mutable std::mutex mutex_;  // guards the map, not what it points to
  std::unordered_map<SequenceId, std::unique_ptr<State>> states_;
};

}  // namespace platen
