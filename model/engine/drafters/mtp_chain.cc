#include "model/engine/drafters/mtp_chain.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "model/engine/drafters/append_draft.h"
#include "model/ops/parallel.h"
#include "model/support/clock.h"

namespace platen {
namespace {

// A sequence that drafts in every round lags by no more. What lags by more, as a prompt that was
// not warmed up, is read in passes of their own of so many rows: scratch of the layer grows with
// the rows of a pass, and all would be as many as the prompts of all sequences together have.
constexpr int64_t kUsualLag = 8;
constexpr int64_t kCatchUpRows = 64;

}  // namespace

MtpChain::MtpChain(const Model& model, KvPool& pool, MtpChainOptions options)
    : model_(model),
      pool_(pool),
      options_(std::move(options)),
      layer_(options_.layer != nullptr ? *options_.layer : *model.draft()),
      head_(model, options_.vocabulary),
      lagging_rows_(model.architecture().text().hidden_size, kMostLaggingBytes) {
  warm_up_.layer = layer_.MakeWorkspace();
  draft_.layer = layer_.MakeWorkspace();
}

MtpChain::State* MtpChain::Find(SequenceId sequence) const {
  const std::lock_guard lock(mutex_);
  const auto found = states_.find(sequence);
  return found == states_.end() ? nullptr : found->second.get();
}

void MtpChain::Forget(SequenceId sequence) noexcept {
  const std::lock_guard lock(mutex_);
  states_.erase(sequence);
}

// Slot i has the rope position of token i, or of token i + 1 under the shifted convention.
void MtpChain::PushSlotPosition(const Sequence& s, int64_t slot, RowBatch& batch) const {
  const int64_t row = slot + (options_.convention.shift_rope ? 1 : 0);
  batch.PushPosition(s.RopePosition(row, 0), s.RopePosition(row, 1), s.RopePosition(row, 2));
}

// embeddings = table rows of pass.ids, zero where the convention masks position 0.
void MtpChain::EmbedSlots(Pass& pass) const {
  const int64_t rows = pass.batch.num_rows();
  MatView e = pass.embeddings.Shaped(rows, model_.architecture().text().hidden_size);
  model_.text().Embed(pass.ids, e);
  if (!options_.convention.mask_position0) return;
  for (int64_t r = 0; r < rows; ++r) {
    const auto i = static_cast<size_t>(r);
    const auto& p = pass.batch.positions;
    if (p[0][i] == 0 && p[1][i] == 0 && p[2][i] == 0) std::fill_n(e.Row(r), e.cols, 0.0F);
  }
}

void MtpChain::At(std::string_view point, MatView rows) const {
  if (options_.fault_point) options_.fault_point(point, rows);
}

void MtpChain::Keep(const Sequence& s, std::unique_ptr<State> state) {
  const std::lock_guard lock(mutex_);
  states_[s.id] = std::move(state);
}

// The last slot of every slice needs the token that was decided behind it and lags.
void MtpChain::Observe(std::span<Sequence* const> sequences, const RowBatch& batch,
                       ConstMatView hidden, bool warm_up) {
  At("draft.observe");
  if (warm_up) WarmUp(sequences, batch, hidden);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const RowSlice& slice = batch.slices[i];
    if (!sequences[i]->request.drafting.allows(DrafterChoice::kMtp)) continue;
    auto state = std::make_unique<State>(lagging_rows_, *sequences[i]);
    state->len = warm_up ? slice.num_rows - 1 : 0;
    const int64_t lagging = slice.num_rows - state->len;
    KeepRows(*state, state->len, hidden.Rows(slice.first_row + state->len, lagging));
    Keep(*sequences[i], std::move(state));
  }
}

// Rows from `first_row` on, which follow those that lag already.
void MtpChain::KeepRows(State& state, int64_t first_row, ConstMatView hidden) const {
  if (state.lagging.Append(hidden)) return;
  // No room: the layer begins anew behind the last row. (One row nobody could keep is no loss: the
  // next round brings another.)
  state.lagging.Clear();
  state.first = first_row + hidden.rows - 1;
  state.len = 0;
  if (!state.lagging.Append(hidden.Rows(hidden.rows - 1, 1))) ++state.first;
}

void MtpChain::WarmUp(std::span<Sequence* const> sequences, const RowBatch& batch,
                      ConstMatView hidden) {
  Pass& pass = warm_up_;
  pass.batch.Clear();
  pass.ids.clear();
  for (size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& s = *sequences[i];
    const int64_t slots = batch.slices[i].num_rows - 1;
    if (slots > 0) pass.batch.AddSlice(s.blocks, 0, slots);
    for (int64_t slot = 0; slot < slots; ++slot) {
      pass.ids.push_back(s.tokens[static_cast<size_t>(slot + 1)]);
      PushSlotPosition(s, slot, pass.batch);
    }
  }
  if (!pass.ids.empty()) FillSlots(sequences, batch, hidden);
}

void MtpChain::FillSlots(std::span<Sequence* const> sequences, const RowBatch& batch,
                         ConstMatView hidden) {
  Pass& pass = warm_up_;
  EmbedSlots(pass);
  const int64_t width = hidden.cols;
  MatView h = pass.hidden.Shaped(pass.batch.num_rows(), width);
  int64_t row = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& s = *sequences[i];
    const int64_t first = row;
    for (int64_t slot = 0; slot + 1 < batch.slices[i].num_rows; ++slot, ++row) {
      std::copy_n(hidden.Row(batch.slices[i].first_row + slot), width, h.Row(row));
    }
    if (!options_.convention.image_slots_vision) continue;
    for (size_t image = 0; image < s.prompt.image_rows.size(); ++image) {
      const int64_t slot = s.prompt.image_rows[image] - 1;
      if (slot < 0) continue;  // the first row is no slot's next token
      std::copy_n(s.image_embeddings.View().Row(static_cast<int64_t>(image)), width,
                  pass.embeddings.View().Row(first + slot));
    }
  }
  if (!options_.observer) {
    layer_.FillCache(pass.embeddings.View(), h, pass.batch, pool_, *pass.layer);
    return;
  }
  layer_.Forward(pass.embeddings.View(), h, pass.batch, pool_, *pass.layer);
  options_.observer("mtp_prefill", pass.layer->normed.View());
}

// Without a lagging row there is nothing to draft from: one plain round follows.
bool MtpChain::CanPropose(const Sequence& sequence) const {
  if (!sequence.request.drafting.allows(DrafterChoice::kMtp)) return false;
  const State* state = Find(sequence.id);
  return state != nullptr && state->lagging.size() > 0;
}

void MtpChain::Propose(std::span<Proposal> proposals, const DraftLimits& limits,
                       DraftCosts& costs) {
  active_.clear();
  for (Proposal& p : proposals) {
    if (p.planned > 0 && CanPropose(*p.sequence)) {
      active_.push_back({&p, Find(p.sequence->id)});
    }
  }
  if (active_.empty()) return;
  int64_t start_ns = MonotonicNs();
  costs.extend_rows += CatchUp();
  Extend();
  costs.extend_rows += draft_.batch.num_rows();
  costs.extend_seconds += SecondsSince(start_ns);
  for (KeepThoseThatWantMore(limits); !active_.empty(); KeepThoseThatWantMore(limits)) {
    start_ns = MonotonicNs();
    Chain();
    ++costs.chain_passes;
    costs.chain_rows += draft_.batch.num_rows();
    costs.chain_seconds += SecondsSince(start_ns);
  }
}

// The next step's inputs move up with their sequences.
void MtpChain::KeepThoseThatWantMore(const DraftLimits& limits) {
  size_t kept = 0;
  MatView chain = chain_hidden_.View();
  for (size_t i = 0; i < active_.size(); ++i) {
    Proposal& p = *active_[i].proposal;
    if (!WantsMore(p, limits, options_.full_drafts)) continue;
    std::copy_n(chain.Row(static_cast<int64_t>(i)), chain.cols,
                chain.Row(static_cast<int64_t>(kept)));
    active_[kept++] = active_[i];
  }
  active_.resize(kept);
}

void MtpChain::BeginPass() {
  draft_.batch.Clear();
  draft_.ids.clear();
  in_pass_.clear();
  last_rows_.clear();
}

// The first `rows` lagging slots of a sequence, which is not in the pass yet.
void MtpChain::AddLagging(const Active& a, int64_t rows) {
  const Sequence& s = *a.proposal->sequence;
  assert(a.state->next_slot() + a.state->lagging.size() == s.cache_len);
  draft_.batch.AddSlice(s.blocks, a.state->len, rows);
  for (int64_t slot = a.state->next_slot(); slot < a.state->next_slot() + rows; ++slot) {
    draft_.ids.push_back(s.tokens[static_cast<size_t>(slot + 1)]);
    PushSlotPosition(s, slot, draft_.batch);
  }
  in_pass_.push_back(a);
}

// What was added, with true hidden vectors. It lags no more.
void MtpChain::RunLagging() {
  Pass& pass = draft_;
  EmbedSlots(pass);
  MatView h = pass.hidden.Shaped(pass.batch.num_rows(), model_.architecture().text().hidden_size);
  for (size_t i = 0; i < in_pass_.size(); ++i) {
    const RowSlice& slice = pass.batch.slices[i];
    in_pass_[i].state->lagging.CopyFirst(h.Rows(slice.first_row, slice.num_rows));
  }
  At("draft.extend", h);
  layer_.Forward(pass.embeddings.View(), h, pass.batch, pool_, *pass.layer);
  for (size_t i = 0; i < in_pass_.size(); ++i) {
    in_pass_[i].state->len += pass.batch.slices[i].num_rows;
    in_pass_[i].state->lagging.DropFirst(pass.batch.slices[i].num_rows);
  }
}

// Leaves no sequence with more than kUsualLag lagging slots; returns how many rows it read.
int64_t MtpChain::CatchUp() {
  int64_t read = 0;
  BeginPass();
  const auto run = [&] {
    read += draft_.batch.num_rows();
    RunLagging();
    BeginPass();
  };
  for (const Active& a : active_) {
    for (int64_t left = a.state->lagging.size() - kUsualLag; left > 0;) {
      const int64_t rows = std::min(left, kCatchUpRows - draft_.batch.num_rows());
      AddLagging(a, rows);
      left -= rows;
      if (draft_.batch.num_rows() == kCatchUpRows) run();
    }
  }
  if (draft_.batch.num_rows() > 0) run();
  return read;
}

// The lagging slots; the last one's output is the first draft.
void MtpChain::Extend() {
  BeginPass();
  for (const Active& a : active_) {
    AddLagging(a, a.state->lagging.size());
    last_rows_.push_back(draft_.batch.num_rows() - 1);
  }
  RunLagging();
  AppendDrafts();
}

// One further draft per sequence from the layer's own last output. The slot of draft j is behind
// those of the rows in the cache; nothing beyond the state's length counts as written.
void MtpChain::Chain() {
  Pass& pass = draft_;
  BeginPass();
  for (const Active& a : active_) {
    const Sequence& s = *a.proposal->sequence;
    const int64_t slot = s.cache_len + static_cast<int64_t>(a.proposal->drafts.size()) - 1;
    last_rows_.push_back(pass.batch.num_rows());
    pass.batch.AddSlice(s.blocks, slot - a.state->first, 1);
    pass.ids.push_back(a.proposal->drafts.back());
    PushSlotPosition(s, slot, pass.batch);
  }
  EmbedSlots(pass);
  const auto count = static_cast<int64_t>(active_.size());
  At("draft.chain", chain_hidden_.View().Rows(0, count));
  layer_.Forward(pass.embeddings.View(), chain_hidden_.View().Rows(0, count), pass.batch, pool_,
                 *pass.layer);
  AppendDrafts();
}

// The head over one row per sequence; the rows also become the inputs of the next chained step.
void MtpChain::AppendDrafts() {
  const TextSizes& sizes = model_.architecture().text();
  const auto count = static_cast<int64_t>(active_.size());
  Pass& pass = draft_;
  MatView head_in = pass.head_in.Shaped(count, sizes.hidden_size);
  const MatView normed = pass.layer->normed.View();
  const MatView chained = options_.convention.chain_pre_norm ? pass.layer->pre_norm.View() : normed;
  MatView chain = chain_hidden_.Shaped(count, sizes.hidden_size);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = last_rows_[static_cast<size_t>(i)];
    std::copy_n(normed.Row(row), normed.cols, head_in.Row(i));
    std::copy_n(chained.Row(row), normed.cols, chain.Row(i));
  }
  MatView logits = pass.logits.Shaped(count, sizes.vocab_size);
  head_.Logits(head_in, logits, *pass.layer);
  At("draft.logits", logits);
  if (options_.observer) {
    options_.observer("mtp_hidden", head_in);
    options_.observer("mtp_logits", logits);
  }
  while (samplers_.size() < active_.size()) samplers_.emplace_back(model_.kernels());
  ParallelFor(count, [&](int64_t i) {
    const auto place = static_cast<size_t>(i);
    AppendDraft(logits.Rows(i, 1), samplers_[place], *active_[place].proposal);
  });
}

void MtpChain::Commit(const Sequence& s, ConstMatView hidden) {
  if (!s.request.drafting.allows(DrafterChoice::kMtp)) return;
  State* state = Find(s.id);
  if (state == nullptr) {
    auto fresh = std::make_unique<State>(lagging_rows_, s);
    fresh->first = s.cache_len;
    state = fresh.get();
    Keep(s, std::move(fresh));
  }
  KeepRows(*state, s.cache_len, hidden);
}

}  // namespace platen
