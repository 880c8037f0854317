#include "model/engine/draft_watch.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace platen {

DraftWatch::DraftWatch(std::vector<double> own) : own_(std::move(own)) { assert(!own_.empty()); }

bool DraftWatch::Wants(int64_t rounds) const {
  return watched_ < kAllAtFirst || rounds % kOneOf == 0;
}

// The number N of drafts accepted has P(N >= j) = A_j, so E N = sum A_j and E N^2 = sum (2j - 1)
// A_j.
void DraftWatch::Add(int planned, int accepted) {
  Round round;
  const auto known = std::min<size_t>(own_.size(), static_cast<size_t>(std::max(planned, 0)));
  round.accepted = std::min(accepted, static_cast<int>(known));
  double squares = 0;
  for (size_t j = 0; j < known; ++j) {
    round.expected += own_[j];
    squares += static_cast<double>(2 * j + 1) * own_[j];
  }
  round.variance = squares - round.expected * round.expected;
  rounds_.push_back(round);
  Count(round, 1);
  if (rounds_.size() > kKept) {
    Count(rounds_.front(), -1);
    rounds_.pop_front();
  }
  ++watched_;
}

void DraftWatch::Count(const Round& round, int times) {
  sum_.accepted += times * round.accepted;
  sum_.expected += times * round.expected;
  sum_.variance += times * round.variance;
}

double DraftWatch::tokens_per_round() const {
  return rounds_.empty() ? 0 : 1 + sum_.accepted / static_cast<double>(rounds_.size());
}

double DraftWatch::own_tokens_per_round() const {
  return rounds_.empty() ? 0 : 1 + sum_.expected / static_cast<double>(rounds_.size());
}

bool DraftWatch::worse() const {
  if (watched_ < kFewest) return false;
  const auto n = static_cast<double>(rounds_.size());
  const double loss = own_tokens_per_round() - tokens_per_round();
  return loss > kMargin * own_tokens_per_round() &&
         loss > kErrors * std::sqrt(std::max(sum_.variance, 0.0)) / n;
}

}  // namespace platen
