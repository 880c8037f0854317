#include "model/engine/repetition_guard.h"

#include <algorithm>
#include <string>

namespace platen {
namespace {

constexpr auto kTextTokens = [] {
  std::array<int32_t, RepetitionGuard::kMaxPeriod + 1> tokens = {};
  for (int p = 1; p <= RepetitionGuard::kMaxPeriod; ++p) {
    tokens[static_cast<size_t>(p)] = RepetitionGuard::TextTokens(p);
  }
  return tokens;
}();

constexpr std::string_view kLeaders[] = {".", "-", "_", "=", "*", "+", "~", "·", "…", "–", "—"};
constexpr std::string_view kTags[] = {"table", "thead", "tbody", "tfoot", "tr", "td", "th"};

// Takes one of `words` from the front of `text`.
template <size_t N>
bool Take(const std::string_view (&words)[N], std::string_view& text) {
  for (const std::string_view word : words) {
    if (!text.starts_with(word)) continue;
    text.remove_prefix(word.size());
    return true;
  }
  return false;
}

bool OnlyLeaders(std::string_view text) {
  while (!text.empty()) {
    if (text.front() == ' ') {
      text.remove_prefix(1);
    } else if (!Take(kLeaders, text)) {
      return false;
    }
  }
  return true;
}

// The name of a tag, without its slash; empty: none of a table.
std::string_view TagName(std::string_view tag) {
  if (tag.starts_with('/')) tag.remove_prefix(1);
  const std::string_view name = tag.substr(0, tag.find_first_of(" />\t"));
  return std::find(std::begin(kTags), std::end(kTags), name) == std::end(kTags) ? std::string_view()
                                                                                : name;
}

struct TableText {
  bool only = true;   // nothing but tags, separators and white space
  bool rows = false;  // with an end of a row
  bool tags = false;
};

TableText LookAtTable(std::string_view text) {
  TableText found;
  while (!text.empty() && found.only) {
    const char c = text.front();
    if (c == '<') {
      const size_t end = text.find('>');
      const std::string_view name =
          end == std::string_view::npos ? std::string_view() : TagName(text.substr(1, end - 1));
      found.only = !name.empty();
      found.rows = found.rows || name == "tr";
      found.tags = true;
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    } else if (text.starts_with("&nbsp;")) {
      text.remove_prefix(6);
    } else if (std::string_view("| \t\r\n-+:").find(c) != std::string_view::npos) {
      found.rows = found.rows || c == '\n';
      found.tags = found.tags || c == '|';
      text.remove_prefix(1);
    } else {
      found.only = false;
    }
  }
  return found;
}

}  // namespace

// A unit may begin within a tag. Three of them in a row have all of it in the middle: from the
// first place at which a tag or a separator begins, one unit's length on.
UnitKind ClassifyUnit(std::string_view text) {
  if (text.empty()) return UnitKind::kText;
  if (OnlyLeaders(text)) return UnitKind::kLeader;
  std::string thrice;
  for (int i = 0; i < 3; ++i) thrice += text;
  const size_t first = thrice.find_first_of("<|\n");
  if (first == std::string::npos || first >= text.size()) return UnitKind::kText;
  const TableText table = LookAtTable(std::string_view(thrice).substr(first, text.size()));
  if (!table.only || !table.tags) return UnitKind::kText;
  return table.rows ? UnitKind::kRows : UnitKind::kCells;
}

void RepetitionGuard::Count(std::span<const TokenId> decided) {
  const auto n = static_cast<int64_t>(decided.size());
  const auto longest = static_cast<int>(std::min<int64_t>(kMaxPeriod, n - 1));
  const TokenId newest = decided.back();
  const TokenId* before = decided.data() + n - 1;
  int32_t* run = run_.data();
  for (int p = 1; p <= longest; ++p) run[p] = before[-p] == newest ? run[p] + 1 : 0;
}

// The shortest period with enough repeated tokens that is a unit of its own: a run that a shorter
// period covers as well is that one's, which may need more of it. 0: none.
int RepetitionGuard::LoopingPeriod(int longest) const {
  bool any = false;
  for (int p = 1; p <= longest; ++p) {
    any |= run_[static_cast<size_t>(p)] >= kTextTokens[static_cast<size_t>(p)];
  }
  if (!any) return 0;
  int64_t covered = 0;  // newest tokens that shorter periods repeat, their units included
  for (int p = 1; p <= longest; ++p) {
    const int64_t tokens = run(p) + p;
    if (run(p) >= kTextTokens[static_cast<size_t>(p)] && tokens > covered) return p;
    if (run(p) > 0) covered = std::max(covered, tokens);
  }
  return 0;
}

std::optional<Loop> RepetitionGuard::Push(
    std::span<const TokenId> decided, const Room& room,
    const std::function<UnitKind(std::span<const TokenId>)>& kind_of) {
  Count(decided);
  const auto n = static_cast<int64_t>(decided.size());
  const auto longest = static_cast<int>(std::min<int64_t>(kMaxPeriod, n - 1));
  const int period = LoopingPeriod(longest);
  if (period == 0) return std::nullopt;
  const int64_t tokens = run(period) + period;
  const Loop loop = {n - tokens, period, tokens / period};
  bool certain = true;
  switch (kind_of(decided.last(static_cast<size_t>(period)))) {
    case UnitKind::kText:
      break;
    case UnitKind::kLeader:
      certain = tokens >= kLeaderTokens;
      break;
    case UnitKind::kCells:
      certain = loop.repeats > room.width / kSmallestCell;
      break;
    case UnitKind::kRows:
      certain = loop.repeats > room.height / kSmallestCell;
      break;
  }
  return certain ? std::optional(loop) : std::nullopt;
}

}  // namespace platen
