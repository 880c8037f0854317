// Drafts by the model's own draft layer (multi-token prediction), chained on its own output.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "model/engine/drafters/drafter.h"
#include "model/engine/fault_point.h"
#include "model/engine/mtp_convention.h"
#include "model/families/model.h"

namespace platen {

struct MtpChainOptions {
  MtpConvention convention;
  // Chain on even after a drafted stop token, behind which nothing is decided; comparisons with the
  // reference need it.
  bool full_drafts = false;
  Observer observer;
  FaultPoint fault_point;  // "draft.observe", "draft.extend", "draft.chain", "draft.logits"
};

// Without a warm-up, and after many rows without a draft, the layer's cache begins anew at the last
// few rows: what lies before is not worth its passes and its memory. The first draft after that
// costs a longer pass, and a few rows of context less.
class MtpChain final : public Drafter {
 public:
  // Hidden vectors kept of a sequence that is not drafting: at most so many; when there are more,
  // the newest so many stay.
  static constexpr int64_t kMostLagging = 32;
  static constexpr int64_t kKeptLagging = 16;

  // `model`, which has a draft layer, and `pool` outlive the drafter.
  MtpChain(const Model& model, KvPool& pool, MtpChainOptions options);

  std::string_view name() const override { return "mtp"; }
  void Observe(std::span<Sequence* const> sequences, const RowBatch& batch, ConstMatView hidden,
               bool warm_up) override;
  bool CanPropose(const Sequence& sequence) const override;
  void Propose(std::span<Proposal> proposals, const DraftLimits& limits,
               DraftCosts& costs) override;
  void Commit(const Sequence& sequence, ConstMatView hidden) override;
  void Forget(SequenceId sequence) noexcept override;

 private:
  // Slots first .. first + len - 1 of the draft layer are in its cache, at indices 0 .. len - 1.
  // `lagging` holds, in its first `num_lagging` rows, the target's hidden vectors of the rows from
  // there to cache_len - 1.
  struct State {
    int64_t first = 0;
    int64_t len = 0;
    int64_t num_lagging = 0;
    Mat lagging;

    int64_t next_slot() const { return first + len; }
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
  void Keep(const Sequence& s, std::unique_ptr<State> state);
  void At(std::string_view point, MatView rows = {}) const;
  void PushSlotPosition(const Sequence& s, int64_t slot, RowBatch& batch) const;
  void EmbedSlots(Pass& pass) const;
  void WarmUp(std::span<Sequence* const> sequences, const RowBatch& batch, ConstMatView hidden);
  void FillSlots(std::span<Sequence* const> sequences, const RowBatch& batch, ConstMatView hidden);
  void Extend();
  void Chain();
  void AppendDrafts();
  void KeepThoseThatWantMore(const DraftLimits& limits);

  const Model& model_;
  KvPool& pool_;
  const MtpChainOptions options_;
  Pass warm_up_;  // of the prefill stage

  // Of the decode stage.
  Pass draft_;
  std::vector<Active> active_;      // sequences that go on drafting
  std::vector<int64_t> last_rows_;  // of each, in the pass
  std::vector<Selection> chosen_;   // of each, the layer's own choice
  Mat chain_hidden_;                // [active, D] input of the next chained step

  mutable std::mutex mutex_;  // guards the map, not what it points to
  std::unordered_map<SequenceId, std::unique_ptr<State>> states_;
};

}  // namespace platen
