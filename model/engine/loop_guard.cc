#include "model/engine/loop_guard.h"

#include <algorithm>

namespace platen {

bool LoopGuard::Push(std::span<const TokenId> decided) {
  const auto n = static_cast<int>(decided.size());
  bool looping = false;
  for (int period = 1; period <= std::min(kMaxPeriod, n - 1); ++period) {
    int32_t& run = run_[static_cast<size_t>(period)];
    const bool repeats =
        decided[static_cast<size_t>(n - 1)] == decided[static_cast<size_t>(n - 1 - period)];
    run = repeats ? run + 1 : 0;
    looping = looping || run >= std::max(kMinTokens, kMinPeriods * period);
  }
  return looping;
}

}  // namespace platen
