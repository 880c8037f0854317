#include "model/engine/drafters/draft_head.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "model/ops/parallel.h"
#include "model/support/error.h"

namespace platen {
namespace {

const Module& HeadOf(const ModuleTable& table) {
  const auto& modules = table.modules();
  const auto head = std::find_if(modules.begin(), modules.end(), [](const Module& module) {
    return module.is_linear() && module.rows_of == RowsOf::kLogits;
  });
  assert(head != modules.end() && head->weights.size() == 1 && head->biases.empty());
  return *head;
}

std::vector<TokenId> WithStopTokens(const Model& model, std::span<const TokenId> vocabulary) {
  std::vector<TokenId> ids(vocabulary.begin(), vocabulary.end());
  const auto& stop = model.architecture().tokens().stop;
  ids.insert(ids.end(), stop.begin(), stop.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

// A column's values and scales are its own: packed again they are those of the whole head.
DraftHead::DraftHead(const Model& model, std::span<const TokenId> vocabulary) : model_(model) {
  if (vocabulary.empty()) return;
  ids_ = WithStopTokens(model, vocabulary);
  const Module& head = HeadOf(model.modules());
  const StoredTensor* stored = FindTensor(model.snapshot().checkpoint, head.weights.front());
  assert(stored != nullptr);  // the snapshot was checked
  LinearShape shape = head.linear()->shape();
  shape.columns = static_cast<int64_t>(ids_.size());
  const WeightRows rows = {shape.columns, shape.depth,
                           [&](int64_t index, std::span<float> scratch) -> const float* {
                             WidenRow(*stored, ids_[static_cast<size_t>(index)], scratch);
                             return scratch.data();
                           }};
  rows_ = Linear::PackRows(shape, rows, {});
}

void DraftHead::Logits(ConstMatView hidden, MatView logits, Workspace& workspace) {
  if (ids_.empty()) {
    model_.text().Logits(hidden, logits, workspace);
    return;
  }
  MatView scores = scores_.Shaped(hidden.rows, rows_.columns());
  rows_.Apply(model_.kernels(), hidden, scores, linear_);
  ParallelFor(hidden.rows, [&](int64_t r) {
    float* row = logits.Row(r);
    std::fill_n(row, logits.cols, -std::numeric_limits<float>::infinity());
    const float* score = scores.Row(r);
    for (const TokenId id : ids_) row[id] = *score++;
  });
}

}  // namespace platen
