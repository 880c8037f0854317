// Notices text that repeats itself without end.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "model/support/token_id.h"

namespace platen {

// What a repeated unit is made of. Leaders (dots, dashes, spaces) and the tags of an empty table
// repeat in good text, too.
enum class UnitKind { kText, kLeader, kCells, kRows };

// Of a unit's text, whatever place in it the unit begins at. kRows: tags and white space with an
// end of a row; kCells: without.
UnitKind ClassifyUnit(std::string_view text);

// A trailing part of the text that is one unit over and over.
struct Loop {
  int64_t start = 0;  // index of the first token of the first unit
  int period = 0;     // tokens of the unit
  int64_t repeats = 0;
};

// For every period, how many newest tokens equal the token one period before. Works on decided
// tokens, one at a time, so its verdict does not depend on how many tokens a round decides.
class RepetitionGuard {
 public:
  static constexpr int kMaxPeriod = 1024;
  // A run of leaders is a loop when it has so many tokens.
  static constexpr int64_t kLeaderTokens = 512;
  // Rows and cells are a loop when there are more than the image has room for at this size.
  static constexpr int kSmallestCell = 8;  // pixels

  // Repeated tokens of text that are a loop; docs/DECODING.md argues the table.
  static constexpr int TextTokens(int period) {
    if (period == 1) return 96;
    if (period <= 4) return 128;
    if (period <= 16) return 12 * period;
    if (period <= 64) return 8 * period;
    return (period <= 256 ? 5 : 3) * period;
  }

  struct Room {
    int width = 0;  // of the image, pixels; 0: not known, units of a table count as text
    int height = 0;
  };

  // `decided` ends with the newest token; call once per decided token. `kind_of` is asked for the
  // unit's kind when there is enough of it to be a loop of text.
  std::optional<Loop> Push(std::span<const TokenId> decided, const Room& room,
                           const std::function<UnitKind(std::span<const TokenId>)>& kind_of);

  // Newest tokens that equal the token one period before.
  int64_t run(int period) const { return run_[static_cast<size_t>(period)]; }

 private:
  void Count(std::span<const TokenId> decided);
  int LoopingPeriod(int longest) const;

  std::array<int32_t, kMaxPeriod + 1> run_ = {};  // by period
};

}  // namespace platen
