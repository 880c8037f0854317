#include "model/engine/drafters/mtp_chain.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "model/ops/parallel.h"

namespace platen {

MtpChain::MtpChain(const Model& model, KvPool& pool, MtpChainOptions options)
    : model_(model), pool_(pool), options_(std::move(options)) {
  warm_up_.layer = model.draft()->MakeWorkspace();
  draft_.layer = model.draft()->MakeWorkspace();
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

// Slots 0 .. P - 2 of every prompt. Slot P - 1 needs the first generated token and lags.
void MtpChain::Observe(std::span<Sequence* const> sequences, const RowBatch& batch,
                       ConstMatView hidden) {
  Pass& pass = warm_up_;
  pass.batch.Clear();
  pass.ids.clear();
  for (const Sequence* s : sequences) {
    const int64_t slots = s->prompt_len() - 1;
    if (slots > 0) pass.batch.AddSlice(s->blocks, 0, slots);
    for (int64_t i = 0; i < slots; ++i) {
      pass.ids.push_back(s->tokens[static_cast<size_t>(i + 1)]);
      PushSlotPosition(*s, i, pass.batch);
    }
  }
  if (!pass.ids.empty()) FillPromptSlots(sequences, batch, hidden);
  for (size_t i = 0; i < sequences.size(); ++i) {
    auto state = std::make_unique<State>();
    state->len = sequences[i]->prompt_len() - 1;
    const RowSlice& slice = batch.slices[i];
    MatView lagging = state->lagging.Shaped(1, hidden.cols);
    std::copy_n(hidden.Row(slice.first_row + slice.num_rows - 1), hidden.cols, lagging.data);
    const std::lock_guard lock(mutex_);
    states_[sequences[i]->id] = std::move(state);
  }
}

void MtpChain::FillPromptSlots(std::span<Sequence* const> sequences, const RowBatch& batch,
                               ConstMatView hidden) {
  Pass& pass = warm_up_;
  EmbedSlots(pass);
  const int64_t width = hidden.cols;
  MatView h = pass.hidden.Shaped(pass.batch.num_rows(), width);
  int64_t row = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& s = *sequences[i];
    const int64_t first = row;
    for (int64_t slot = 0; slot + 1 < s.prompt_len(); ++slot, ++row) {
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
  model_.draft()->Forward(pass.embeddings.View(), h, pass.batch, pool_, *pass.layer);
  if (options_.observer) options_.observer("mtp_prefill", pass.layer->normed.View());
}

// Without a lagging row there is nothing to draft from: one plain round follows.
bool MtpChain::CanPropose(const Sequence& sequence) const {
  const State* state = Find(sequence.id);
  return state != nullptr && state->len < sequence.cache_len;
}

void MtpChain::Propose(std::span<Proposal> proposals) {
  std::vector<Active> active;
  for (Proposal& p : proposals) {
    State* state = p.planned > 0 ? Find(p.sequence->id) : nullptr;
    if (state != nullptr && state->len < p.sequence->cache_len) active.push_back({&p, state});
  }
  if (active.empty()) return;
  Extend(active);
  for (active = KeepThoseThatWantMore(active); !active.empty();
       active = KeepThoseThatWantMore(active)) {
    Chain(active);
  }
}

// The next step's inputs move up with their sequences.
std::vector<MtpChain::Active> MtpChain::KeepThoseThatWantMore(std::span<const Active> active) {
  std::vector<Active> more;
  MatView chain = chain_hidden_.View();
  for (size_t i = 0; i < active.size(); ++i) {
    const Proposal& p = *active[i].proposal;
    if (static_cast<int>(p.drafts.size()) >= p.planned) continue;
    // Nothing is decided after a stop token.
    if (!options_.full_drafts && p.sequence->IsStop(p.drafts.back())) continue;
    std::copy_n(chain.Row(static_cast<int64_t>(i)), chain.cols,
                chain.Row(static_cast<int64_t>(more.size())));
    more.push_back(active[i]);
  }
  return more;
}

// Slots len .. cache_len - 1 with true hidden vectors; the last one's output is the first draft.
void MtpChain::Extend(std::span<const Active> active) {
  const int64_t width = model_.architecture().text().hidden_size;
  Pass& pass = draft_;
  pass.batch.Clear();
  pass.ids.clear();
  std::vector<int64_t> last_rows;
  for (const Active& a : active) {
    const Sequence& s = *a.proposal->sequence;
    pass.batch.AddSlice(s.blocks, a.state->len, s.cache_len - a.state->len);
    for (int64_t slot = a.state->len; slot < s.cache_len; ++slot) {
      pass.ids.push_back(s.tokens[static_cast<size_t>(slot + 1)]);
      PushSlotPosition(s, slot, pass.batch);
    }
    last_rows.push_back(pass.batch.num_rows() - 1);
  }
  EmbedSlots(pass);
  MatView h = pass.hidden.Shaped(pass.batch.num_rows(), width);
  for (size_t i = 0; i < active.size(); ++i) {
    State& state = *active[i].state;
    const RowSlice& slice = pass.batch.slices[i];
    assert(state.lagging.rows() == slice.num_rows);
    std::copy_n(state.lagging.data(), slice.num_rows * width, h.Row(slice.first_row));
    state.len = active[i].proposal->sequence->cache_len;
  }
  model_.draft()->Forward(pass.embeddings.View(), h, pass.batch, pool_, *pass.layer);
  AppendDrafts(active, last_rows);
}

// One further draft per sequence from the layer's own last output. Slot cache_len + j - 1 holds the
// pair of draft j; nothing beyond the state's length counts as written.
void MtpChain::Chain(std::span<const Active> active) {
  Pass& pass = draft_;
  pass.batch.Clear();
  pass.ids.clear();
  std::vector<int64_t> rows;
  for (const Active& a : active) {
    const Sequence& s = *a.proposal->sequence;
    const int64_t slot = s.cache_len + static_cast<int64_t>(a.proposal->drafts.size()) - 1;
    rows.push_back(pass.batch.num_rows());
    pass.batch.AddSlice(s.blocks, slot, 1);
    pass.ids.push_back(a.proposal->drafts.back());
    PushSlotPosition(s, slot, pass.batch);
  }
  EmbedSlots(pass);
  const auto count = static_cast<int64_t>(active.size());
  model_.draft()->Forward(pass.embeddings.View(), chain_hidden_.View().Rows(0, count), pass.batch,
                          pool_, *pass.layer);
  AppendDrafts(active, rows);
}

// The head over one row per sequence; the rows also become the inputs of the next chained step.
void MtpChain::AppendDrafts(std::span<const Active> active, std::span<const int64_t> rows) {
  const TextSizes& sizes = model_.architecture().text();
  const auto count = static_cast<int64_t>(active.size());
  Pass& pass = draft_;
  MatView head_in = pass.head_in.Shaped(count, sizes.hidden_size);
  const MatView normed = pass.layer->normed.View();
  const MatView chained = options_.convention.chain_pre_norm ? pass.layer->pre_norm.View() : normed;
  MatView chain = chain_hidden_.Shaped(count, sizes.hidden_size);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = rows[static_cast<size_t>(i)];
    std::copy_n(normed.Row(row), normed.cols, head_in.Row(i));
    std::copy_n(chained.Row(row), normed.cols, chain.Row(i));
  }
  MatView logits = pass.logits.Shaped(count, sizes.vocab_size);
  model_.text().Logits(head_in, logits, *pass.layer);
  if (options_.observer) {
    options_.observer("mtp_hidden", head_in);
    options_.observer("mtp_logits", logits);
  }
  std::vector<TokenId> drafts(static_cast<size_t>(count));
  ParallelFor(count, [&](int64_t i) {
    const Selection best = model_.kernels().select(logits.Row(i), sizes.vocab_size);
    // A draft that is not a number is a guess like any other: the target decides.
    drafts[static_cast<size_t>(i)] = std::max(0, best.index);
  });
  for (size_t i = 0; i < active.size(); ++i) active[i].proposal->drafts.push_back(drafts[i]);
}

void MtpChain::Commit(const Sequence& s, ConstMatView hidden) {
  State* state = Find(s.id);
  if (state == nullptr) return;
  const int64_t lag = s.cache_len - state->len;
  if (lag == 0) {
    MatView lagging = state->lagging.Shaped(hidden.rows, hidden.cols);
    for (int64_t r = 0; r < hidden.rows; ++r) {
      std::copy_n(hidden.Row(r), hidden.cols, lagging.Row(r));
    }
    return;
  }
  // Rows that lag already stay in front (a round without drafts).
  Mat joined(lag + hidden.rows, hidden.cols);
  std::copy_n(state->lagging.data(), lag * hidden.cols, joined.data());
  for (int64_t r = 0; r < hidden.rows; ++r) {
    std::copy_n(hidden.Row(r), hidden.cols, joined.View().Row(lag + r));
  }
  state->lagging = std::move(joined);
}

}  // namespace platen
