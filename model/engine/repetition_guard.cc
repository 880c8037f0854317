#include "model/engine/repetition_guard.h"

#include <algorithm>
#include <limits>

namespace platen {
namespace {

constexpr TokenId kNoToken = std::numeric_limits<TokenId>::min();  // before the first one

constexpr auto kSuspectTokens = [] {
  std::array<int32_t, RepetitionGuard::kMaxPeriod> tokens = {};
  for (int p = 1; p <= RepetitionGuard::kMaxPeriod; ++p) {
    tokens[static_cast<size_t>(p - 1)] = RepetitionGuard::SuspectTokens(p);
  }
  return tokens;
}();

}  // namespace

void RepetitionGuard::Reset() {
  counted_ = 0;
  suspect_ = false;
  run_.fill(0);
  history_.fill(kNoToken);
  newest_ = kMaxPeriod;
  classified_ = {};
}

// Whether any period has enough repeated tokens to be suspect.
bool RepetitionGuard::Count(TokenId token) {
  const TokenId* before = history_.data() + newest_;
  int32_t reached = 0;
  for (size_t i = 0; i < run_.size(); ++i) {
    const int32_t run = before[i] == token ? run_[i] + 1 : 0;
    run_[i] = run;
    reached |= run >= kSuspectTokens[i] ? 1 : 0;
  }
  if (newest_ == 0) {
    newest_ = kMaxPeriod + 1;
    std::copy_n(history_.begin(), kMaxPeriod - 1, history_.begin() + kMaxPeriod + 1);
  }
  history_[--newest_] = token;
  ++counted_;
  return reached != 0;
}

std::optional<Loop> RepetitionGuard::Push(std::span<const TokenId> decided, const Limits& limits,
                                          const Classify& classify) {
  const auto n = static_cast<int64_t>(decided.size());
  if (counted_ + 1 != n) {
    Reset();
    for (const TokenId token : decided.first(static_cast<size_t>(std::max<int64_t>(n - 1, 0)))) {
      Count(token);
    }
  }
  suspect_ = false;
  if (decided.empty() || !Count(decided.back())) return std::nullopt;
  return Judge(decided, limits, classify);
}

// A text that a shorter period covers as well is that one's: two periods of a text that is as long
// as both together have their common divisor as a period, too (Fine and Wilf 1965).
std::optional<Loop> RepetitionGuard::Judge(std::span<const TokenId> decided, const Limits& limits,
                                           const Classify& classify) {
  int64_t covered = 0;  // newest tokens that have a shorter period
  for (int p = 1; p <= kMaxPeriod; ++p) {
    const int64_t tokens = int64_t{run(p)} + p;
    if (tokens <= covered) continue;
    covered = tokens;
    if (run(p) < SuspectTokens(p)) continue;
    suspect_ = true;
    if (run(p) < CertainTokens(p)) continue;
    const Loop loop = {static_cast<int64_t>(decided.size()) - tokens, p};
    if (IsLoop(loop, decided, limits, classify)) return loop;
  }
  return std::nullopt;
}

// For a loop that is one if it is text.
bool RepetitionGuard::IsLoop(const Loop& loop, std::span<const TokenId> decided,
                             const Limits& limits, const Classify& classify) {
  if (classified_.start != loop.start || classified_.period != loop.period) {
    kind_ = classify(decided.last(static_cast<size_t>(loop.period)));
    classified_ = loop;
  }
  const int64_t repeats = (static_cast<int64_t>(decided.size()) - loop.start) / loop.period;
  switch (kind_) {
    case UnitKind::kText:
      return true;
    case UnitKind::kLeader:
      return run(loop.period) >= kLeaderTokens;
    case UnitKind::kCells:
      return repeats > limits.most_cells;
    case UnitKind::kRows:
      return repeats > limits.most_rows;
  }
  return true;
}

}  // namespace platen
