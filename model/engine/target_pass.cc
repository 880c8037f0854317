#include "model/engine/target_pass.h"

#include <algorithm>

#include "model/engine/prompt_embedding.h"
#include "model/ops/parallel.h"

namespace platen {
namespace {

SampledToken Sample(const Model& model, const Sequence& s, std::span<const TokenId> drafts,
                    MatView row) {
  return SampleGreedy(model.kernels(), {s.request.repetition_penalty}, {s.seen, drafts}, row);
}

void PushPositions(const Sequence& s, int64_t first, int64_t count, RowBatch& batch) {
  for (int64_t row = first; row < first + count; ++row) {
    batch.PushPosition(s.RopePosition(row, 0), s.RopePosition(row, 1), s.RopePosition(row, 2));
  }
}

}  // namespace

PrefillPass::PrefillPass(const Model& model, KvPool& pool)
    : model_(model), pool_(pool), workspace_(model.text().MakeWorkspace()) {}

void PrefillPass::Run(std::span<Sequence* const> sequences, const Observer& observer) {
  const TextSizes& sizes = model_.architecture().text();
  batch_.Clear();
  for (const Sequence* s : sequences) {
    batch_.AddSlice(s->blocks, 0, s->prompt_len());
    PushPositions(*s, 0, s->prompt_len(), batch_);
  }
  MatView x = x_.Shaped(batch_.num_rows(), sizes.hidden_size);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const RowSlice& slice = batch_.slices[i];
    EmbedPrompt(model_, *sequences[i], x.Rows(slice.first_row, slice.num_rows));
  }
  model_.text().Forward(batch_, pool_, x, *workspace_, observer);

  // The head runs over the last row of each prompt only.
  const auto count = static_cast<int64_t>(sequences.size());
  MatView last = last_.Shaped(count, sizes.hidden_size);
  for (int64_t i = 0; i < count; ++i) {
    const RowSlice& slice = batch_.slices[static_cast<size_t>(i)];
    std::copy_n(x.Row(slice.first_row + slice.num_rows - 1), x.cols, last.Row(i));
  }
  MatView logits = logits_.Shaped(count, sizes.vocab_size);
  model_.text().Logits(last, logits, *workspace_);
  if (observer) observer("logits_last", logits);
  first_tokens_.clear();
  for (int64_t i = 0; i < count; ++i) {
    first_tokens_.push_back(
        Sample(model_, *sequences[static_cast<size_t>(i)], {}, logits.Rows(i, 1)));
  }
}

VerifyPass::VerifyPass(const Model& model, KvPool& pool)
    : model_(model), pool_(pool), workspace_(model.text().MakeWorkspace()) {}

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
  model_.text().Forward(batch_, pool_, x, *workspace_, {});
  MatView logits = logits_.Shaped(rows, sizes.vocab_size);
  model_.text().Logits(x, logits, *workspace_);

  chosen_.resize(static_cast<size_t>(rows));
  ParallelFor(static_cast<int64_t>(proposals.size()), [&](int64_t i) {
    const Proposal& p = proposals[static_cast<size_t>(i)];
    const RowSlice& slice = batch_.slices[static_cast<size_t>(i)];
    for (int64_t j = 0; j < slice.num_rows; ++j) {
      chosen_[static_cast<size_t>(slice.first_row + j)] =
          Sample(model_, *p.sequence, std::span(p.drafts).first(static_cast<size_t>(j)),
                 logits.Rows(slice.first_row + j, 1));
    }
  });
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
