#include "model/engine/sampler.h"

#include <algorithm>

namespace platen {
namespace {

void Penalise(float penalty, TokenId id, float* logits) {
  float& logit = logits[id];
  logit = logit > 0.0F ? logit / penalty : logit * penalty;
}

bool Contains(std::span<const TokenId> ids, TokenId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

SampledToken SampleGreedy(const KernelTable& kernels, const SamplerOptions& options,
                          const TokenHistory& history, MatView row) {
  const float penalty = options.repetition_penalty;
  if (penalty != 1.0F) {
    for (const TokenId id : history.seen) Penalise(penalty, id, row.data);
    for (size_t i = 0; i < history.drafts.size(); ++i) {
      const TokenId id = history.drafts[i];
      if (!Contains(history.seen, id) && !Contains(history.drafts.first(i), id)) {
        Penalise(penalty, id, row.data);
      }
    }
  }
  return kernels.select(row.data, static_cast<int>(row.cols));
}

}  // namespace platen
