#include "model/engine/draft_planner.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>

namespace platen {
namespace {

constexpr double kNewestTiming = 0.05;  // weight of the newest timing in a bucket's mean
// A pass that took this many times its bucket's mean was interrupted: it counts as that much.
constexpr double kSlowestTiming = 2.0;
constexpr double kNewestPace = 0.2;  // weight of the newest pass in the machine's pace
constexpr double kMemory = 0.995;    // of acceptance, per round of a sequence
// What is believed of a draft at first, forgotten like everything else.
constexpr double kFirstExamined = 8.0;
constexpr double kFirstAccepted = 6.4;
constexpr double kWorthChanging = 1.03;  // gain that another number of drafts must promise
constexpr int64_t kRoundsBetweenProbes = 32;
constexpr int64_t kRoundsBetweenRetries = 12;
constexpr double kShareOfRetries = 0.005;  // of the time
constexpr double kMostSaved = 0.3;         // of a round
constexpr size_t kFirstBuckets = 32;       // of pass costs: up to 512 rows
constexpr double kBinMemory = 0.995;       // of the calibration, per draft in the bin
constexpr double kOwnWeight = 8;           // drafts that the drafter's own probability counts as

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
  if (index >= buckets_.size()) buckets_.resize(std::max(index + 1, kFirstBuckets));
  Bucket& bucket = buckets_[index];
  if (bucket.count++ == 0) {
    bucket.rows = static_cast<double>(rows);
    bucket.seconds = seconds;
    return;
  }
  const double plausible = std::min(seconds, kSlowestTiming * bucket.seconds);
  // A mean of all at first: one timing alone may be far off.
  const double weight = std::max(kNewestTiming, 1.0 / static_cast<double>(bucket.count));
  bucket.rows += weight * (static_cast<double>(rows) - bucket.rows);
  bucket.seconds += weight * (plausible - bucket.seconds);
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
      current_(max_drafts) {
  tried_.reserve(kFirstBuckets);
}

double DraftPlanner::PrefixChance(int j) const {
  double chance = 1;
  for (int i = 0; i < j; ++i) {
    const Position& p = positions_[static_cast<size_t>(i)];
    chance *= p.accepted / p.examined;
  }
  return chance;
}

double DraftPlanner::TokensPerRound(int drafts) const {
  double tokens = 1;
  for (int j = 1; j <= drafts; ++j) tokens += PrefixChance(j);
  return tokens;
}

// The first pass goes over the rows that the round before has decided.
double DraftPlanner::DraftSeconds(int64_t live, int drafts) const {
  if (drafts == 0) return 0;
  const double rows = static_cast<double>(live) * TokensPerRound(drafts);
  return extend_.Seconds(std::llround(rows)) + (drafts - 1) * chain_.Seconds(live);
}

double DraftPlanner::RoundSeconds(int64_t live, int drafts) const {
  const double seconds = verify_.Seconds(live * (drafts + 1)) + DraftSeconds(live, drafts);
  return std::max(seconds, 1e-9);
}

// Of one sequence among `live`.
double DraftPlanner::TokensPerSecond(int64_t live, int drafts) const {
  return TokensPerRound(drafts) / RoundSeconds(live, drafts);
}

// Whether more drafts than `drafts` would pay if those were always right.
bool DraftPlanner::CouldPay(int64_t live, int drafts) const {
  const double now = TokensPerSecond(live, drafts) * kWorthChanging;
  for (int k = drafts + 1; k <= max_drafts_; ++k) {
    const double tokens = TokensPerRound(drafts) + PrefixChance(drafts) * (k - drafts);
    if (tokens / RoundSeconds(live, k) > now) return true;
  }
  return false;
}

// A draft that costs `seconds` pays if its chance is more than what the whole batch decides in that
// time.
DraftLimits DraftPlanner::LimitsFor(int64_t live, int drafts, double seconds) const {
  const double tokens = static_cast<double>(live) * TokensPerSecond(live, drafts) * seconds;
  return {std::clamp(tokens, 0.0, 1.0), &calibration_};
}

// What one row more costs the target pass, around a round of so many drafts.
double DraftPlanner::RowSeconds(int64_t live, int drafts) const {
  const double with = verify_.Seconds(live * (drafts + 1));
  const double without = verify_.Seconds(live * std::max(drafts, 1));
  return (with - without) / static_cast<double>(live);
}

DraftLimits DraftPlanner::ChainLimits(int64_t live, int drafts) const {
  const double pass = chain_.Seconds(live) / static_cast<double>(live);
  return LimitsFor(live, drafts, RowSeconds(live, drafts) + pass);
}

DraftLimits DraftPlanner::VerifyLimits(int64_t live, int drafts) const {
  return LimitsFor(live, drafts, RowSeconds(live, drafts));
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

int DraftPlanner::Choose(int64_t live, int most) {
  assert(live >= 1);
  most = std::min(most, max_drafts_);
  if (most <= 0) return 0;
  for (int k = most; k >= 0; --k) {
    if (TryOut(live * (k + 1))) return k;
  }
  // The present number stays unless another one is clearly better.
  int best = std::min(current_, most);
  double best_rate = TokensPerSecond(live, best) * kWorthChanging;
  for (int k = 0; k <= most; ++k) {
    const double rate = TokensPerSecond(live, k);
    if (rate > best_rate) {
      best = k;
      best_rate = rate;
    }
  }
  current_ = best;
  return Retry(live, most);
}

// What was timed long ago may be wrong by now, or was from the start. A number of drafts beside the
// present one is timed again when the rounds since the last time have saved what that may cost.
// Not from plain decoding: the draft layer would first have to read what all sequences decided
// since; probes look there, one sequence at a time.
int DraftPlanner::Retry(int64_t live, int most) {
  saved_ = std::min(saved_ + kShareOfRetries, kMostSaved);
  if (current_ == 0 || ++rounds_since_retry_ < kRoundsBetweenRetries) return current_;
  const int other = retry_more_ ? current_ + 1 : current_ - 1;
  retry_more_ = !retry_more_;
  if (other > most) return current_;
  const double loss = 1 - TokensPerSecond(live, other) / TokensPerSecond(live, current_);
  if (loss > saved_) {
    retry_more_ = !retry_more_;
    return current_;
  }
  saved_ -= std::max(loss, 0.0);
  rounds_since_retry_ = 0;
  return other;
}

DraftPlanner::ProbedSequence DraftPlanner::Probe(int64_t live, int drafts) {
  const int64_t wait = drafts == 0 ? 2 * kRoundsBetweenProbes : kRoundsBetweenProbes;
  if (drafts >= max_drafts_ || ++rounds_since_probe_ < wait) return {};
  rounds_since_probe_ = 0;
  if (!CouldPay(live, drafts)) return {};
  const int64_t more = drafts == 0 ? std::min<int64_t>(live, max_drafts_) : 1;
  return {next_probe_++ % live, static_cast<int>(more)};
}

// Everything takes longer while others use the machine. Costs that were timed at different times
// are compared with each other, so they are kept as they are on the machine at its usual pace.
double DraftPlanner::AtUsualPace(const RoundCosts& costs) {
  if (costs.verify_rows > 0 && verify_.Knows(costs.verify_rows)) {
    const double ratio = costs.verify_seconds / verify_.Seconds(costs.verify_rows);
    pace_ += kNewestPace * (std::clamp(ratio, 0.5, kSlowestTiming) - pace_);
  }
  return 1 / pace_;
}

void DraftPlanner::AddCosts(const RoundCosts& costs) {
  const double pace = AtUsualPace(costs);
  if (costs.verify_rows > 0) verify_.Add(costs.verify_rows, pace * costs.verify_seconds);
  const DraftCosts& draft = costs.draft;
  if (draft.extend_rows > 0) extend_.Add(draft.extend_rows, pace * draft.extend_seconds);
  if (draft.chain_passes > 0) {
    const auto passes = static_cast<double>(draft.chain_passes);
    const double rows = static_cast<double>(draft.chain_rows) / passes;
    chain_.Add(std::max<int64_t>(std::llround(rows), 1), pace * draft.chain_seconds / passes);
  }
}

void DraftPlanner::AddAcceptance(std::span<const float> probabilities, int drafted, int accepted,
                                 bool unsure) {
  assert(drafted <= max_drafts_ && accepted <= drafted);
  // Drafts behind the first wrong one say nothing.
  const int examined = std::min(drafted, accepted + 1);
  for (int j = 0; j < examined; ++j) {
    Position& p = positions_[static_cast<size_t>(j)];
    p.examined = kMemory * p.examined + 1;
    p.accepted = kMemory * p.accepted + (j < accepted ? 1 : 0);
    if (static_cast<size_t>(j) < probabilities.size()) {
      calibration_.Add(probabilities[static_cast<size_t>(j)], j < accepted);
    }
  }
  if (!unsure || accepted < drafted || drafted == max_drafts_) return;
  Position& next = positions_[static_cast<size_t>(drafted)];
  next.examined = kMemory * next.examined + 1;
  next.accepted *= kMemory;
}

void DraftPlanner::ForgetAcceptance() {
  std::fill(positions_.begin(), positions_.end(), Position{kFirstExamined, kFirstAccepted});
  calibration_ = {};
  current_ = max_drafts_;
}

// Finer where it matters: probabilities near 1.
size_t DraftCalibration::BinOf(float probability) {
  const double doubt = std::clamp(1.0 - static_cast<double>(probability), 0.0, 1.0);
  return std::min(kBins - 1, static_cast<size_t>(std::sqrt(doubt) * kBins));
}

void DraftCalibration::Add(float probability, bool accepted) {
  Bin& bin = bins_[BinOf(probability)];
  bin.examined = kBinMemory * bin.examined + 1;
  bin.accepted = kBinMemory * bin.accepted + (accepted ? 1 : 0);
}

// Until a bin has seen some, the drafter's own probability counts.
double DraftCalibration::Chance(float probability) const {
  const Bin& bin = bins_[BinOf(probability)];
  const double own = std::clamp(static_cast<double>(probability), 0.0, 1.0);
  return (bin.accepted + kOwnWeight * own) / (bin.examined + kOwnWeight);
}

double DraftLimits::ChanceOf(std::span<const float> probabilities) const {
  double chance = 1;
  for (const float probability : probabilities) chance *= calibration->Chance(probability);
  return chance;
}

}  // namespace platen
