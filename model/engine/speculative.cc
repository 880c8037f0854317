#include "model/engine/speculative.h"

#include <algorithm>
#include <cassert>

#include "model/families/model.h"
#include "model/ops/parallel.h"

namespace platen {
namespace {

void Penalise(float penalty, TokenId id, float* logits) {
  float& logit = logits[id];
  logit = logit > 0.0F ? logit / penalty : logit * penalty;
}

}  // namespace

Selection SelectToken(const KernelTable& kernels, const Sequence& sequence,
                      std::span<const TokenId> prefix, MatView row) {
  const float penalty = sequence.request.repetition_penalty;
  float* logits = row.data;
  if (penalty != 1.0F) {
    for (const TokenId id : sequence.seen) Penalise(penalty, id, logits);
    for (size_t i = 0; i < prefix.size(); ++i) {
      const bool repeated =
          std::find(prefix.begin(), prefix.begin() + static_cast<ptrdiff_t>(i), prefix[i]) !=
              prefix.begin() + static_cast<ptrdiff_t>(i) ||
          std::find(sequence.seen.begin(), sequence.seen.end(), prefix[i]) != sequence.seen.end();
      if (!repeated) Penalise(penalty, prefix[i], logits);
    }
  }
  return kernels.select(logits, static_cast<int>(row.cols));
}

Drafter::Drafter(const Model& model, KvPool& pool, const EngineOptions& options)
    : model_(model), pool_(pool), options_(options) {
  if (model.draft() == nullptr) return;
  warm_up_.layer = model.draft()->MakeWorkspace();
  draft_.layer = model.draft()->MakeWorkspace();
}

bool Drafter::enabled() const { return model_.draft() != nullptr && options_.draft_length > 0; }

// Slot i has the rope position of token i, or of token i + 1 under the shifted convention.
void Drafter::PushSlotPosition(const Sequence& s, int64_t slot, RowBatch& batch) const {
  const int64_t row = slot + (options_.mtp_convention.shift_rope ? 1 : 0);
  batch.PushPosition(s.RopePosition(row, 0), s.RopePosition(row, 1), s.RopePosition(row, 2));
}

// embeddings = table rows of pass.ids, zero where the convention masks position 0.
void Drafter::EmbedSlots(Pass& pass) const {
  const int64_t rows = pass.batch.num_rows();
  MatView e = pass.embeddings.Shaped(rows, model_.architecture().text().hidden_size);
  model_.text().Embed(pass.ids, e);
  if (!options_.mtp_convention.mask_position0) return;
  for (int64_t r = 0; r < rows; ++r) {
    const auto i = static_cast<size_t>(r);
    const auto& p = pass.batch.positions;
    if (p[0][i] == 0 && p[1][i] == 0 && p[2][i] == 0) std::fill_n(e.Row(r), e.cols, 0.0F);
  }
}

void Drafter::WarmUp(std::span<Sequence* const> sequences, const RowBatch& batch,
                     ConstMatView hidden) {
  if (!enabled()) return;
  const int64_t width = model_.architecture().text().hidden_size;
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
  if (!pass.ids.empty()) {
    EmbedSlots(pass);
    MatView h = pass.hidden.Shaped(pass.batch.num_rows(), width);
    int64_t row = 0;
    for (size_t i = 0; i < sequences.size(); ++i) {
      const Sequence& s = *sequences[i];
      const int64_t first = row;
      for (int64_t slot = 0; slot + 1 < s.prompt_len(); ++slot, ++row) {
        std::copy_n(hidden.Row(batch.slices[i].first_row + slot), width, h.Row(row));
      }
      if (!options_.mtp_convention.image_slots_vision) continue;
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
  for (size_t i = 0; i < sequences.size(); ++i) {
    Sequence& s = *sequences[i];
    s.mtp_len = s.prompt_len() - 1;
    const RowSlice& slice = batch.slices[i];
    MatView lagging = s.lagging_hidden.Shaped(1, width);
    std::copy_n(hidden.Row(slice.first_row + slice.num_rows - 1), width, lagging.data);
  }
}

int Drafter::PlannedDrafts(const Sequence& s) const {
  if (!enabled()) return 0;
  // The round decides one token more than it accepts.
  const int64_t useful = s.max_new_tokens - s.num_decided() - 1;
  // Rows behind the anchor's that have a place in the sequence's blocks.
  const int64_t room =
      static_cast<int64_t>(s.blocks.size()) * pool_.block_tokens() - s.cache_len - 1;
  const int64_t most = options_.full_drafts ? room : useful;
  assert(useful <= room);
  return static_cast<int>(std::clamp<int64_t>(most, 0, options_.draft_length));
}

bool Drafter::WantsMore(const Proposal& p) const {
  if (static_cast<int>(p.drafts.size()) >= p.planned) return false;
  // Nothing is decided after a stop token.
  return p.drafts.empty() || options_.full_drafts || !p.sequence->IsStop(p.drafts.back());
}

void Drafter::Draft(std::span<Proposal> proposals) {
  if (!enabled()) return;
  std::vector<Proposal*> active;
  for (Proposal& p : proposals) {
    // Without a lagging row there is nothing to draft from: one plain round follows.
    if (p.planned > 0 && p.sequence->mtp_len < p.sequence->cache_len) active.push_back(&p);
  }
  if (active.empty()) return;
  Extend(active);
  for (;;) {
    std::vector<Proposal*> more;
    int64_t kept = 0;
    for (size_t i = 0; i < active.size(); ++i) {
      if (!WantsMore(*active[i])) continue;
      // The next step's inputs move up with their sequences.
      MatView chain = chain_hidden_.View();
      std::copy_n(chain.Row(static_cast<int64_t>(i)), chain.cols, chain.Row(kept++));
      more.push_back(active[i]);
    }
    active = std::move(more);
    if (active.empty()) return;
    Chain(active);
  }
}

// Slots mtp_len .. cache_len - 1 with true hidden vectors; the last one's output is the first
// draft.
void Drafter::Extend(std::span<Proposal* const> active) {
  const int64_t width = model_.architecture().text().hidden_size;
  Pass& pass = draft_;
  pass.batch.Clear();
  pass.ids.clear();
  std::vector<int64_t> last_rows;
  for (const Proposal* p : active) {
    const Sequence& s = *p->sequence;
    pass.batch.AddSlice(s.blocks, s.mtp_len, s.cache_len - s.mtp_len);
    for (int64_t slot = s.mtp_len; slot < s.cache_len; ++slot) {
      pass.ids.push_back(s.tokens[static_cast<size_t>(slot + 1)]);
      PushSlotPosition(s, slot, pass.batch);
    }
    last_rows.push_back(pass.batch.num_rows() - 1);
  }
  EmbedSlots(pass);
  MatView h = pass.hidden.Shaped(pass.batch.num_rows(), width);
  for (size_t i = 0; i < active.size(); ++i) {
    Sequence& s = *active[i]->sequence;
    const RowSlice& slice = pass.batch.slices[i];
    assert(s.lagging_hidden.rows() == slice.num_rows);
    std::copy_n(s.lagging_hidden.data(), slice.num_rows * width, h.Row(slice.first_row));
    s.mtp_len = s.cache_len;
  }
  model_.draft()->Forward(pass.embeddings.View(), h, pass.batch, pool_, *pass.layer);
  AppendDrafts(active, last_rows);
}

// One further draft per sequence from the layer's own last output. Slot cache_len + j - 1 holds the
// pair of draft j; nothing beyond mtp_len counts as written.
void Drafter::Chain(std::span<Proposal* const> active) {
  Pass& pass = draft_;
  pass.batch.Clear();
  pass.ids.clear();
  std::vector<int64_t> rows;
  for (const Proposal* p : active) {
    const Sequence& s = *p->sequence;
    const int64_t slot = s.cache_len + static_cast<int64_t>(p->drafts.size()) - 1;
    rows.push_back(pass.batch.num_rows());
    pass.batch.AddSlice(s.blocks, slot, 1);
    pass.ids.push_back(p->drafts.back());
    PushSlotPosition(s, slot, pass.batch);
  }
  EmbedSlots(pass);
  const auto count = static_cast<int64_t>(active.size());
  model_.draft()->Forward(pass.embeddings.View(), chain_hidden_.View().Rows(0, count), pass.batch,
                          pool_, *pass.layer);
  AppendDrafts(active, rows);
}

// The head over one row per sequence; the rows also become the inputs of the next chained step.
void Drafter::AppendDrafts(std::span<Proposal* const> active, std::span<const int64_t> rows) {
  const TextSizes& config = model_.architecture().text();
  const auto count = static_cast<int64_t>(active.size());
  Pass& pass = draft_;
  MatView head_in = pass.head_in.Shaped(count, config.hidden_size);
  const MatView n = pass.layer->normed.View();
  const MatView chained = options_.mtp_convention.chain_pre_norm ? pass.layer->pre_norm.View() : n;
  MatView chain = chain_hidden_.Shaped(count, config.hidden_size);
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(n.Row(rows[static_cast<size_t>(i)]), n.cols, head_in.Row(i));
    std::copy_n(chained.Row(rows[static_cast<size_t>(i)]), n.cols, chain.Row(i));
  }
  MatView logits = pass.logits.Shaped(count, config.vocab_size);
  model_.text().Logits(head_in, logits, *pass.layer);
  if (options_.observer) {
    options_.observer("mtp_hidden", head_in);
    options_.observer("mtp_logits", logits);
  }
  ParallelFor(count, [&](int64_t i) {
    const Selection best = model_.kernels().select(logits.Row(i), config.vocab_size);
    // A draft that is not a number is a guess like any other: the target decides.
    active[static_cast<size_t>(i)]->drafts.push_back(std::max(0, best.index));
  });
}

void Drafter::KeepHidden(Sequence& s, ConstMatView hidden) const {
  if (!enabled()) return;
  const int64_t lag = s.cache_len - s.mtp_len;
  if (lag == 0) {
    MatView lagging = s.lagging_hidden.Shaped(hidden.rows, hidden.cols);
    for (int64_t r = 0; r < hidden.rows; ++r)
      std::copy_n(hidden.Row(r), hidden.cols, lagging.Row(r));
    return;
  }
  // Rows that lag already stay in front (a round without drafts).
  Mat joined(lag + hidden.rows, hidden.cols);
  std::copy_n(s.lagging_hidden.data(), lag * hidden.cols, joined.data());
  for (int64_t r = 0; r < hidden.rows; ++r) {
    std::copy_n(hidden.Row(r), hidden.cols, joined.View().Row(lag + r));
  }
  s.lagging_hidden = std::move(joined);
}

}  // namespace platen
