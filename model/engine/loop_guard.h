// Notices text that repeats itself without end.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "model/support/token_id.h"

namespace platen {

// Counts, for every period up to kMaxPeriod, how many newest tokens equal the token one period
// before. Works on decided tokens only, one at a time, so its verdict does not depend on how many
// tokens a round decides.
class LoopGuard {
 public:
  static constexpr int kMaxPeriod = 64;
  // A loop is at least this many repeated tokens and this many repeated periods: far beyond dot
  // leaders, rules and table edges of a printed line.
  static constexpr int kMinTokens = 256;
  static constexpr int kMinPeriods = 8;

  // `decided` ends with the newest token; call once per decided token. True if they loop.
  bool Push(std::span<const TokenId> decided);

 private:
  std::array<int32_t, kMaxPeriod + 1> run_ = {};  // by period
};

}  // namespace platen
