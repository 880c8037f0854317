#include "model/engine/draft_planner.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>

namespace platen {
namespace {

constexpr double kNewestTiming = 0.1;  // weight of the newest timing in a bucket's mean
// A pass that took this many times its bucket's mean was interrupted: it counts as that much.
constexpr double kSlowestTiming = 2.0;
constexpr double kMemory = 0.99;  // of acceptance, per round of a sequence
// What is believed of a draft at first, forgotten like everything else.
constexpr double kFirstExamined = 8.0;
constexpr double kFirstAccepted = 6.4;
constexpr double kWorthChanging = 1.03;  // gain that another number of drafts must promise
constexpr int64_t kRoundsBetweenProbes = 32;

}  // namespace

// 1, 2, 3, 4, then four buckets for every doubling.
size_t PassCost::BucketOf(int64_t rows) {
  assert(rows >= 1);
  if (rows <= 4) return static_cast<size_t>(rows - 1);
  const auto value = static_cast<uint64_t>(rows - 1);
  const int doubling = static_cast<int>(std::bit_width(value)) - 1;  // >= 2
  const uint64_t quarter = (value >> (doubling - 2)) & 3;
  return static_cast<size_t>(4 + (doubling - 2) * 4) + static_cast<size_t>(quarter);
}

void PassCost::Add(int64_t rows, double seconds) {
  const size_t index = BucketOf(rows);
  if (index >= buckets_.size()) buckets_.resize(index + 1);
  Bucket& bucket = buckets_[index];
  if (bucket.count++ == 0) {
    bucket.rows = static_cast<double>(rows);
    bucket.seconds = seconds;
    return;
  }
  const double plausible = std::min(seconds, kSlowestTiming * bucket.seconds);
  bucket.rows += kNewestTiming * (static_cast<double>(rows) - bucket.rows);
  bucket.seconds += kNewestTiming * (plausible - bucket.seconds);
}

bool PassCost::Knows(int64_t rows) const {
  const size_t index = BucketOf(rows);
  return index < buckets_.size() && buckets_[index].count > 0;
}

double PassCost::Seconds(int64_t rows) const {
  const auto wanted = static_cast<double>(rows);
  double rows_below = 0;
  double seconds_below = 0;
  for (const Bucket& bucket : buckets_) {
    if (bucket.count == 0) continue;
    const double seconds = std::max(bucket.seconds, seconds_below);
    if (bucket.rows >= wanted) {
      if (rows_below == 0) return seconds;
      const double way = (wanted - rows_below) / (bucket.rows - rows_below);
      return seconds_below + way * (seconds - seconds_below);
    }
    rows_below = bucket.rows;
    seconds_below = seconds;
  }
  return rows_below == 0 ? 0 : seconds_below * wanted / rows_below;
}

DraftPlanner::DraftPlanner(int max_drafts)
    : max_drafts_(max_drafts),
      positions_(static_cast<size_t>(max_drafts), {kFirstExamined, kFirstAccepted}),
      current_(max_drafts) {}

double DraftPlanner::PrefixChance(int j) const {
  double chance = 1;
  for (int i = 0; i < j; ++i) {
    const Position& p = positions_[static_cast<size_t>(i)];
    chance *= p.accepted / p.examined;
  }
  return chance;
}

double DraftPlanner::TokensPerSecond(int64_t live, int drafts) const {
  double tokens = 1;
  for (int j = 1; j <= drafts; ++j) tokens += PrefixChance(j);
  const double seconds = verify_.Seconds(live * (drafts + 1)) + drafts * draft_.Seconds(live);
  return tokens / std::max(seconds, 1e-9);
}

// Whether a pass over so many rows is still to be timed; says so once. (Sequences near their end
// draft less than they are asked to, so the pass may turn out smaller.)
bool DraftPlanner::TryOut(int64_t rows) {
  if (verify_.Knows(rows)) return false;
  const size_t bucket = PassCost::BucketOf(rows);
  if (bucket >= tried_.size()) tried_.resize(bucket + 1);
  if (tried_[bucket]) return false;
  tried_[bucket] = true;
  return true;
}

int DraftPlanner::Choose(int64_t live) {
  assert(live >= 1);
  if (max_drafts_ == 0) return 0;
  for (int k = max_drafts_; k >= 0; --k) {
    if (TryOut(live * (k + 1))) return k;
  }
  // The present number stays unless another one is clearly better.
  int best = current_;
  double best_rate = TokensPerSecond(live, current_) * kWorthChanging;
  for (int k = 0; k <= max_drafts_; ++k) {
    const double rate = TokensPerSecond(live, k);
    if (rate > best_rate) {
      best = k;
      best_rate = rate;
    }
  }
  current_ = best;
  return best;
}

int64_t DraftPlanner::Probe(int64_t live) {
  if (max_drafts_ == 0 || ++plain_rounds_ < kRoundsBetweenProbes) return -1;
  plain_rounds_ = 0;
  return next_probe_++ % live;
}

void DraftPlanner::AddCosts(const RoundCosts& costs) {
  if (costs.verify_rows > 0) verify_.Add(costs.verify_rows, costs.verify_seconds);
  if (costs.draft_steps > 0) {
    draft_.Add(costs.draft_sequences, costs.draft_seconds / costs.draft_steps);
  }
}

void DraftPlanner::AddAcceptance(int drafted, int accepted) {
  assert(drafted <= max_drafts_ && accepted <= drafted);
  // Drafts behind the first wrong one say nothing.
  const int examined = std::min(drafted, accepted + 1);
  for (int j = 0; j < examined; ++j) {
    Position& p = positions_[static_cast<size_t>(j)];
    p.examined = kMemory * p.examined + 1;
    p.accepted = kMemory * p.accepted + (j < accepted ? 1 : 0);
  }
}

}  // namespace platen
