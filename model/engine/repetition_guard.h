// Notices text that repeats itself without end.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "model/engine/repetition_text.h"
#include "model/support/token_id.h"

namespace platen {

// A text that ends in the same unit of `period` tokens over and over, the last time perhaps in
// part. What is worth keeping ends at start + period.
struct Loop {
  int64_t start = 0;  // index of the first token of the first unit, as early as the period holds
  int period = 0;
};

// For every period, how many newest tokens equal the token one period before. Only the shortest
// period of a repeated text counts, not its multiples. Sees decided tokens one at a time, so its
// verdict does not depend on how many tokens a round decides. Not thread-safe.
class RepetitionGuard {
 public:
  static constexpr int kMaxPeriod = 1024;
  // Repeated tokens of leaders that are a loop.
  static constexpr int32_t kLeaderTokens = 512;

  // Repeated tokens that may be a loop, and those that are one if they are text. From judgement,
  // not from data; more than a list, a rule or a column of equal entries has on a printed page.
  static constexpr int32_t SuspectTokens(int period) {
    if (period == 1) return 32;
    if (period <= 4) return 48;
    return period * (period <= 16 ? 6 : period <= 64 ? 4 : period <= 256 ? 3 : 2);
  }
  static constexpr int32_t CertainTokens(int period) {
    if (period == 1) return 96;
    if (period <= 4) return 128;
    return period * (period <= 16 ? 12 : period <= 64 ? 8 : period <= 256 ? 5 : 3);
  }

  // What the image has room for. The markup of an empty table is a loop when it has more rows, or
  // cells in a row. 0: not known, it is judged as text.
  struct Limits {
    int64_t most_rows = 0;
    int64_t most_cells = 0;

    // Nothing that can be read is smaller than 8 pixels.
    static Limits OfImage(int width, int height) { return {height / 8, width / 8}; }
  };

  // What a unit of these tokens is made of; the same wherever the unit begins.
  using Classify = std::function<UnitKind(std::span<const TokenId> unit)>;

  RepetitionGuard() { Reset(); }
  void Reset();

  // `decided` ends with the newest token; call once per decided token. (After calls that were left
  // out, and after tokens were taken back, it reads all of them again.) The loop, if there
  // certainly is one. `classify` is asked once a text would be a loop, once per text.
  std::optional<Loop> Push(std::span<const TokenId> decided, const Limits& limits,
                           const Classify& classify);

  // The newest tokens may be a loop.
  bool suspect() const { return suspect_; }
  // Newest tokens that equal the token `period` before, 1 <= period <= kMaxPeriod.
  int32_t run(int period) const { return run_[static_cast<size_t>(period - 1)]; }

 private:
  bool Count(TokenId token);
  std::optional<Loop> Judge(std::span<const TokenId> decided, const Limits& limits,
                            const Classify& classify);
  bool IsLoop(const Loop& loop, std::span<const TokenId> decided, const Limits& limits,
              const Classify& classify);

  int64_t counted_ = 0;  // tokens
  bool suspect_ = false;
  std::array<int32_t, kMaxPeriod> run_;  // by period - 1
  // The newest kMaxPeriod tokens, the newest first, from newest_ on: a period is an offset, and all
  // of them are compared in one pass. Moved to the back when the front is reached.
  std::array<TokenId, 2 * kMaxPeriod> history_;
  size_t newest_ = 0;
  // What was classified last.
  Loop classified_;
  UnitKind kind_ = UnitKind::kText;
};

}  // namespace platen
