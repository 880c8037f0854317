// Drafts by the model's own draft layer (multi-token prediction), chained on its own output.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "model/engine/drafters/draft_head.h"
#include "model/engine/drafters/drafter.h"
#include "model/engine/drafters/hidden_rows.h"
#include "model/engine/fault_point.h"
#include "model/engine/mtp_convention.h"
#include "model/families/model.h"

namespace platen {

struct MtpChainOptions {
  const DraftModel* layer = nullptr;  // nullptr: the one the model drafts with
  MtpConvention convention;
  std::vector<TokenId> vocabulary;  // the tokens it chooses among; empty: all
  // Chain on even after a drafted stop token, behind which nothing is decided; comparisons with the
  // reference need it.
  bool full_drafts = false;
  Observer observer;
  FaultPoint fault_point;  // "draft.observe", "draft.extend", "draft.chain", "draft.logits"
};

// Without a warm-up, and while a sequence does not draft, the hidden vectors of its rows are kept
// until it does: its first draft then costs passes over all of them. When they would take more than
// kMostLaggingBytes, those of a sequence are dropped, and its draft layer begins anew at the row
// after them: it drafts worse then, by what it does not see.
class MtpChain final : public Drafter {
 public:
  static constexpr int64_t kMostLaggingBytes = int64_t{256} << 20;

  // `model`, the layer and `pool` outlive the drafter.
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
  // `lagging` holds the target's hidden vectors of the rows from there to cache_len - 1.
  struct State {
    State(HiddenRowPool& pool, const Sequence& s) : lagging(pool, s.worst_case_rows()) {}

    int64_t first = 0;
    int64_t len = 0;
    HiddenRows lagging;

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
  void KeepRows(State& state, int64_t first_row, ConstMatView hidden) const;
  void At(std::string_view point, MatView rows = {}) const;
  void PushSlotPosition(const Sequence& s, int64_t slot, RowBatch& batch) const;
  void EmbedSlots(Pass& pass) const;
  void WarmUp(std::span<Sequence* const> sequences, const RowBatch& batch, ConstMatView hidden);
  void FillSlots(std::span<Sequence* const> sequences, const RowBatch& batch, ConstMatView hidden);
  void BeginPass();
  void AddLagging(const Active& a, int64_t rows);
  void RunLagging();
  int64_t CatchUp();
  void Extend();
  void Chain();
  void AppendDrafts();
  void KeepThoseThatWantMore(const DraftLimits& limits);

  const Model& model_;
  KvPool& pool_;
  const MtpChainOptions options_;
  const DraftModel& layer_;
  DraftHead head_;
  HiddenRowPool lagging_rows_;
  Pass warm_up_;  // of the prefill stage

  // Of the decode stage.
  Pass draft_;
  std::vector<Active> active_;          // sequences that go on drafting
  std::vector<Active> in_pass_;         // sequences whose lagging rows are in the pass, by slice
  std::vector<int64_t> last_rows_;      // of each of `active_`, in the pass
  std::vector<TokenSampler> samplers_;  // of each
  Mat chain_hidden_;                    // [active, D] input of the next chained step

  mutable std::mutex mutex_;  // guards the map, not what it points to
  std::unordered_map<SequenceId, std::unique_ptr<State>> states_;
};

}  // namespace platen
