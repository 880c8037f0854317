#include "model/engine/target_pass.h"

#include <algorithm>

#include "model/engine/prompt_embedding.h"
#include "model/ops/parallel.h"

namespace platen {
namespace {

void PushPositions(const Sequence& s, int64_t first, int64_t count, RowBatch& batch) {
  for (int64_t row = first; row < first + count; ++row) {
    batch.PushPosition(s.RopePosition(row, 0), s.RopePosition(row, 1), s.RopePosition(row, 2));
  }
}

}  // namespace

PrefillPass::PrefillPass(const Model& model, KvPool& pool)
    : model_(model),
      pool_(pool),
      workspace_(model.text().MakeWorkspace()),
      sampler_(model.kernels()) {}

void PrefillPass::Run(std::span<Sequence* const> sequences, const Observer& observer) {
  const TextSizes& sizes = model_.architecture().text();
  batch_.Clear();
  for (const Sequence* s : sequences) {
    batch_.AddSlice(s->blocks, 0, s->num_prefill_rows());
    PushPositions(*s, 0, s->num_prefill_rows(), batch_);
  }
  MatView x = x_.Shaped(batch_.num_rows(), sizes.hidden_size);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const RowSlice& slice = batch_.slices[i];
    EmbedPrompt(model_, *sequences[i], x.Rows(slice.first_row, slice.num_rows));
  }
  model_.text().Forward(batch_, pool_, x, *workspace_, observer);

  ChooseFirstTokens(sequences, observer);
}

// The head runs over the last row of each prompt only. What a preempted sequence decides next is
// known already: its newest token.
void PrefillPass::ChooseFirstTokens(std::span<Sequence* const> sequences,
                                    const Observer& observer) {
  const TextSizes& sizes = model_.architecture().text();
  first_tokens_.assign(sequences.size(), {});
  const auto is_new = [](const Sequence* s) { return s->num_decided() == 0; };
  const int64_t count = std::count_if(sequences.begin(), sequences.end(), is_new);
  if (count == 0) return;
  MatView last = last_.Shaped(count, sizes.hidden_size);
  int64_t row = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (!is_new(sequences[i])) continue;
    const RowSlice& slice = batch_.slices[i];
    std::copy_n(x_.View().Row(slice.first_row + slice.num_rows - 1), last.cols, last.Row(row++));
  }
  MatView logits = logits_.Shaped(count, sizes.vocab_size);
  model_.text().Logits(last, logits, *workspace_);
  if (observer) observer("logits_last", logits);
  row = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (!is_new(sequences[i])) continue;
    const Sequence& s = *sequences[i];
    first_tokens_[i] = sampler_.Sample(s.request.sampling, s.NextToken(), logits.Rows(row++, 1));
  }
}

VerifyPass::VerifyPass(const Model& model, KvPool& pool, const FaultPoint& fault_point)
    : model_(model),
      pool_(pool),
      workspace_(model.text().MakeWorkspace()),
      fault_point_(fault_point) {
  if (!fault_point_) return;
  observer_ = [this](const std::string& name, ConstMatView) { fault_point_("verify." + name, {}); };
}

void VerifyPass::Run(std::span<const Proposal> proposals) {
  const TextSizes& sizes = model_.architecture().text();
  batch_.Clear();
  ids_.clear();
  for (const Proposal& p : proposals) {
    const Sequence& s = *p.sequence;
    const auto width = static_cast<int64_t>(p.drafts.size()) + 1;
    batch_.AddSlice(s.blocks, s.cache_len, width);
    PushPositions(s, s.cache_len, width, batch_);
    ids_.push_back(s.tokens.back());
    ids_.insert(ids_.end(), p.drafts.begin(), p.drafts.end());
  }
  const int64_t rows = batch_.num_rows();
  MatView x = x_.Shaped(rows, sizes.hidden_size);
  model_.text().Embed(ids_, x);
  model_.text().Forward(batch_, pool_, x, *workspace_, observer_);
  MatView logits = logits_.Shaped(rows, sizes.vocab_size);
  model_.text().Logits(x, logits, *workspace_);
  if (fault_point_) fault_point_("verify.logits", logits);

  accepted_.resize(proposals.size());
  chosen_.resize(static_cast<size_t>(rows));
  while (scratch_.size() < proposals.size()) {
    scratch_.push_back(std::make_unique<AcceptanceScratch>(model_.kernels()));
  }
  ParallelFor(std::ssize(proposals), [&](int64_t i) {
    const auto place = static_cast<size_t>(i);
    const Proposal& p = proposals[place];
    const RowSlice& slice = batch_.slices[place];
    accepted_[place] = DecideTokens(
        p.sequence->request.sampling, p.sequence->NextToken(), {p.drafts, p.distributions},
        logits.Rows(slice.first_row, slice.num_rows), *scratch_[place], RowsOf(slice));
  });
}

std::span<SampledToken> VerifyPass::RowsOf(const RowSlice& slice) {
  return std::span(chosen_).subspan(static_cast<size_t>(slice.first_row),
                                    static_cast<size_t>(slice.num_rows));
}

std::span<const SampledToken> VerifyPass::chosen(size_t i) const {
  const RowSlice& slice = batch_.slices[i];
  return std::span(chosen_).subspan(static_cast<size_t>(slice.first_row),
                                    static_cast<size_t>(slice.num_rows));
}

ConstMatView VerifyPass::hidden(size_t i) const {
  const RowSlice& slice = batch_.slices[i];
  return x_.View().Rows(slice.first_row, slice.num_rows);
}

}  // namespace platen
