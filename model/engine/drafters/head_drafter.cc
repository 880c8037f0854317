#include "model/engine/drafters/head_drafter.h"

#include <algorithm>
#include <utility>

#include "model/engine/drafters/append_draft.h"
#include "model/ops/parallel.h"
#include "model/support/clock.h"

namespace platen {

HeadDrafter::HeadDrafter(const Model& model, HeadDrafterOptions options)
    : model_(model),
      options_(std::move(options)),
      heads_(options_.heads != nullptr ? *options_.heads : *model.draft_heads()),
      head_(model, options_.vocabulary),
      workspace_(heads_.MakeWorkspace()) {}

std::vector<float>* HeadDrafter::Find(SequenceId sequence) const {
  const std::lock_guard lock(mutex_);
  const auto found = last_rows_.find(sequence);
  return found == last_rows_.end() ? nullptr : found->second.get();
}

// A row that is there already is written over: the sequence is in no other call.
void HeadDrafter::Keep(const Sequence& sequence, const float* hidden) {
  const auto width = model_.architecture().text().hidden_size;
  if (std::vector<float>* row = Find(sequence.id)) {
    std::copy_n(hidden, width, row->begin());
    return;
  }
  auto row = std::make_unique<std::vector<float>>(hidden, hidden + width);
  const std::lock_guard lock(mutex_);
  last_rows_[sequence.id] = std::move(row);
}

void HeadDrafter::Observe(std::span<Sequence* const> sequences, const RowBatch& batch,
                          ConstMatView hidden, bool /*warm_up*/) {
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (!sequences[i]->request.drafting.allows(DrafterChoice::kMtp)) continue;
    const RowSlice& slice = batch.slices[i];
    Keep(*sequences[i], hidden.Row(slice.first_row + slice.num_rows - 1));
  }
}

bool HeadDrafter::CanPropose(const Sequence& sequence) const {
  return sequence.request.drafting.allows(DrafterChoice::kMtp) && Find(sequence.id) != nullptr;
}

void HeadDrafter::Commit(const Sequence& sequence, ConstMatView hidden) {
  if (!sequence.request.drafting.allows(DrafterChoice::kMtp)) return;
  Keep(sequence, hidden.Row(hidden.rows - 1));
}

void HeadDrafter::Forget(SequenceId sequence) noexcept {
  const std::lock_guard lock(mutex_);
  last_rows_.erase(sequence);
}

void HeadDrafter::Propose(std::span<Proposal> proposals, const DraftLimits& limits,
                          DraftCosts& costs) {
  active_.clear();
  for (Proposal& p : proposals) {
    if (p.planned > 0 && CanPropose(*p.sequence)) active_.push_back(&p);
  }
  const int64_t width = model_.architecture().text().hidden_size;
  MatView hidden = hidden_.Shaped(static_cast<int64_t>(active_.size()), width);
  for (size_t i = 0; i < active_.size(); ++i) {
    std::copy_n(Find(active_[i]->sequence->id)->begin(), width,
                hidden.Row(static_cast<int64_t>(i)));
  }
  for (int k = 0; k < heads_.count() && !active_.empty(); ++k) {
    const int64_t start_ns = MonotonicNs();
    const auto rows = static_cast<int64_t>(active_.size());
    Guess(k);
    if (k == 0) {
      costs.extend_rows += rows;
      costs.extend_seconds += SecondsSince(start_ns);
    } else {
      ++costs.chain_passes;
      costs.chain_rows += rows;
      costs.chain_seconds += SecondsSince(start_ns);
    }
    KeepThoseThatWantMore(limits);
  }
}

// One further draft of every active sequence.
void HeadDrafter::Guess(int k) {
  const auto count = static_cast<int64_t>(active_.size());
  const MatView hidden = hidden_.View().Rows(0, count);
  heads_.Apply(k, hidden, *workspace_);
  MatView logits = logits_.Shaped(count, model_.architecture().text().vocab_size);
  head_.Logits(hidden, logits, *workspace_);
  if (options_.observer) {
    options_.observer("mtp_hidden", hidden);
    options_.observer("mtp_logits", logits);
  }
  while (samplers_.size() < active_.size()) samplers_.emplace_back(model_.kernels());
  ParallelFor(count, [&](int64_t i) {
    const auto place = static_cast<size_t>(i);
    AppendDraft(logits.Rows(i, 1), samplers_[place], *active_[place]);
  });
}

// Their rows move up with them.
void HeadDrafter::KeepThoseThatWantMore(const DraftLimits& limits) {
  size_t kept = 0;
  const MatView hidden = hidden_.View();
  for (size_t i = 0; i < active_.size(); ++i) {
    Proposal& p = *active_[i];
    if (!WantsMore(p, limits, options_.full_drafts)) continue;
    std::copy_n(hidden.Row(static_cast<int64_t>(i)), hidden.cols,
                hidden.Row(static_cast<int64_t>(kept)));
    active_[kept++] = &p;
  }
  active_.resize(kept);
}

}  // namespace platen
