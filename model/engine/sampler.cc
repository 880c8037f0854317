#include "model/engine/sampler.h"

#include <algorithm>
#include <cmath>

#include "model/support/fixed_math.h"

namespace platen {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

bool Contains(std::span<const TokenId> ids, TokenId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Larger first, the lowest id among equals.
template <typename Candidate>
bool MoreLikely(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

// -log of exponential noise.
double Head(NoiseAt& noise, TokenId id) {
  const double exponential = -FixedLog(1 - noise.Uniform(static_cast<uint32_t>(id)));
  return -FixedLog(exponential);
}

}  // namespace

double TokenDistribution::Of(TokenId id) const {
  const auto found = std::lower_bound(ids.begin(), ids.end(), id);
  if (found == ids.end() || *found != id) return 0;
  return probabilities[static_cast<size_t>(found - ids.begin())];
}

SampledToken TokenSampler::Sample(const SamplingOptions& options, const TokenContext& context,
                                  MatView row) {
  return Begin(options, context, row) ? Chosen() : SampledToken{-1, 0};
}

bool TokenSampler::Begin(const SamplingOptions& options, const TokenContext& context, MatView row) {
  options_ = options;
  row_ = row;
  place_ = context.place;
  known_ids_ = static_cast<int>(std::min<int64_t>(context.known_ids, row.cols));
  collected_ = false;
  originals_.clear();
  raw_ = kernels_->select(row.data, static_cast<int>(row.cols));
  if (raw_.index < 0) return false;
  raw_logit_ = row.data[raw_.index];
  top_ = raw_.index;
  if (options.repetition_penalty != 1.0F) Penalise(context);
  if (context.place < context.banned_places) {
    for (const TokenId id : context.banned) Change(id, kNever);
  }
  if (!originals_.empty()) top_ = kernels_->select(row.data, static_cast<int>(row.cols)).index;
  if (top_ < 0) return false;
  top_logit_ = row.data[top_];
  return top_logit_ > kNever;
}

void TokenSampler::Change(TokenId id, float logit) {
  if (id < 0 || id >= row_.cols) return;
  originals_.emplace_back(id, row_.data[id]);
  row_.data[id] = logit;
}

// Every id of the history once.
void TokenSampler::Penalise(const TokenContext& context) {
  const float penalty = options_.repetition_penalty;
  const auto penalise = [&](TokenId id) {
    const float logit = row_.data[id];
    Change(id, logit > 0.0F ? logit / penalty : logit * penalty);
  };
  for (const TokenId id : context.seen) penalise(id);
  for (size_t i = 0; i < context.drafts.size(); ++i) {
    const TokenId id = context.drafts[i];
    if (!Contains(context.seen, id) && !Contains(context.drafts.first(i), id)) penalise(id);
  }
}

SampledToken TokenSampler::Token(TokenId id) const {
  if (id == raw_.index) return raw_;
  float logit = row_.data[id];
  for (const auto& [changed, original] : originals_) {
    if (changed == id) {
      logit = original;
      break;  // the first change has the model's own
    }
  }
  const double below = static_cast<double>(logit) - static_cast<double>(raw_logit_);
  return {id, static_cast<float>(static_cast<double>(raw_.probability) * FixedExp(below))};
}

// Relative to the most likely token.
double TokenSampler::Weight(float logit) const {
  return FixedExp((static_cast<double>(logit) - static_cast<double>(top_logit_)) /
                  static_cast<double>(options_.temperature));
}

void TokenSampler::KeepMostLikely(size_t count) {
  if (count >= candidates_.size()) return;
  const auto end = candidates_.begin() + static_cast<ptrdiff_t>(count);
  std::nth_element(candidates_.begin(), end, candidates_.end(), MoreLikely<Candidate>);
  candidates_.resize(count);
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
}

// The sum is taken in the order of ids, so that it does not depend on how they were sorted.
void TokenSampler::KeepNucleus() {
  double total = 0;
  for (const Candidate& c : candidates_) total += Weight(c.logit);
  const double wanted = static_cast<double>(options_.top_p) * total;
  const auto less_likely = [](const Candidate& a, const Candidate& b) { return MoreLikely(b, a); };
  std::make_heap(candidates_.begin(), candidates_.end(), less_likely);
  auto end = candidates_.end();
  double mass = 0;
  while (end != candidates_.begin() && (end == candidates_.end() || mass < wanted)) {
    std::pop_heap(candidates_.begin(), end, less_likely);
    mass += Weight((--end)->logit);
  }
  candidates_.erase(candidates_.begin(), end);
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
}

void TokenSampler::KeepCandidates() {
  if (collected_) return;
  collected_ = true;
  candidates_.clear();
  for (TokenId id = 0; id < known_ids_; ++id) {
    if (row_.data[id] > kNever) candidates_.push_back({row_.data[id], id});
  }
  if (options_.top_k > 0) KeepMostLikely(static_cast<size_t>(options_.top_k));
  if (options_.top_p < 1) KeepNucleus();
}

SampledToken TokenSampler::Chosen(Noise purpose) {
  if (options_.greedy()) return Token(top_);
  KeepCandidates();
  NoiseAt noise(options_.seed, place_, purpose);
  TokenId best = -1;
  double best_score = 0;
  for (const Candidate& c : candidates_) {
    const double score = static_cast<double>(c.logit) / static_cast<double>(options_.temperature) +
                         Head(noise, c.id);
    if (best < 0 || score > best_score) {
      best = c.id;
      best_score = score;
    }
  }
  return best < 0 ? SampledToken{-1, 0} : Token(best);
}

void TokenSampler::Distribution(TokenDistribution& out) {
  out.ids.clear();
  out.probabilities.clear();
  if (options_.greedy()) {
    out.ids.push_back(top_);
    out.probabilities.push_back(1);
    return;
  }
  KeepCandidates();
  double total = 0;
  for (const Candidate& c : candidates_) {
    out.ids.push_back(c.id);
    out.probabilities.push_back(Weight(c.logit));
    total += out.probabilities.back();
  }
  for (double& p : out.probabilities) p /= total;
}

SampledToken TokenSampler::DrawFrom(const TokenDistribution& distribution, Noise purpose) const {
  NoiseAt noise(options_.seed, place_, purpose);
  TokenId best = -1;
  double best_score = 0;
  for (size_t i = 0; i < distribution.ids.size(); ++i) {
    if (distribution.probabilities[i] <= 0) continue;
    const double score = FixedLog(distribution.probabilities[i]) + Head(noise, distribution.ids[i]);
    if (best < 0 || score > best_score) {
      best = distribution.ids[i];
      best_score = score;
    }
  }
  return best < 0 ? SampledToken{-1, 0} : Token(best);
}

}  // namespace platen
