#include "model/support/edit_distance.h"

#include <algorithm>

namespace platen {
namespace {

constexpr size_t kBlockRows = 64;

// One column step of a block of up to 64 rows of the distance matrix. Bit i of `plus` (`minus`)
// says that row i's value is one more (less) than that of the row above it.
struct BlockState {
  uint64_t plus = ~uint64_t{0};
  uint64_t minus = 0;

  // `equal`: rows whose symbol is the column's. `above`: how the value just above the block changed
  // from the column before, -1, 0 or 1. Returns the same for row `last`.
  int Step(uint64_t equal, int above, size_t last) {
    const uint64_t vertical = equal | minus;
    equal |= above < 0 ? 1U : 0U;
    const uint64_t diagonal = (((equal & plus) + plus) ^ plus) | equal;
    uint64_t right_plus = minus | ~(diagonal | plus);
    uint64_t right_minus = plus & diagonal;
    const int below =
        static_cast<int>(right_plus >> last & 1) - static_cast<int>(right_minus >> last & 1);
    right_plus = right_plus << 1 | (above > 0 ? 1U : 0U);
    right_minus = right_minus << 1 | (above < 0 ? 1U : 0U);
    plus = right_minus | ~(vertical | right_plus);
    minus = right_plus & vertical;
    return below;
  }
};

// Symbols of both sequences numbered 1, 2, ... as they occur in `columns`; 0 is a symbol that does
// not.
class Numbering {
 public:
  explicit Numbering(std::span<const uint32_t> columns) : symbols_(columns.begin(), columns.end()) {
    std::sort(symbols_.begin(), symbols_.end());
    symbols_.erase(std::unique(symbols_.begin(), symbols_.end()), symbols_.end());
  }
  size_t size() const { return symbols_.size() + 1; }
  size_t Of(uint32_t symbol) const {
    const auto found = std::lower_bound(symbols_.begin(), symbols_.end(), symbol);
    const bool known = found != symbols_.end() && *found == symbol;
    return known ? static_cast<size_t>(found - symbols_.begin()) + 1 : 0;
  }

 private:
  std::vector<uint32_t> symbols_;
};

constexpr int64_t kMostEdits = 2;     // of a word that was misspelt: two letters exchanged are two
constexpr int64_t kMinBeginning = 3;  // letters that say which name is meant

size_t LeadingDashes(const std::string& word) {
  return std::min(word.size(), word.find_first_not_of('-'));
}

void DropCommonEnds(std::span<const uint32_t>& a, std::span<const uint32_t>& b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    a = a.subspan(1);
    b = b.subspan(1);
  }
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a = a.first(a.size() - 1);
    b = b.first(b.size() - 1);
  }
}

}  // namespace

int64_t EditDistance(std::span<const uint32_t> rows, std::span<const uint32_t> columns) {
  DropCommonEnds(rows, columns);
  if (rows.empty()) return static_cast<int64_t>(columns.size());
  const Numbering numbering(columns);
  std::vector<size_t> column_symbols;
  for (const uint32_t symbol : columns) column_symbols.push_back(numbering.Of(symbol));

  // changes[j]: how the value of the last row done so far changes into column j. Row 0 is 0,
  // 1, 2...
  std::vector<int8_t> changes(columns.size(), 1);
  std::vector<uint64_t> equal(numbering.size(), 0);  // of the current block, by symbol
  for (size_t first = 0; first < rows.size(); first += kBlockRows) {
    const size_t count = std::min(kBlockRows, rows.size() - first);
    for (size_t i = 0; i < count; ++i) {
      equal[numbering.Of(rows[first + i])] |= uint64_t{1} << i;
    }
    equal[0] = 0;
    BlockState block;
    for (size_t j = 0; j < columns.size(); ++j) {
      changes[j] = static_cast<int8_t>(block.Step(equal[column_symbols[j]], changes[j], count - 1));
    }
    for (size_t i = 0; i < count; ++i) equal[numbering.Of(rows[first + i])] = 0;
  }
  auto distance = static_cast<int64_t>(rows.size());
  for (const int8_t change : changes) distance += change;
  return distance;
}

int64_t EditDistance(std::string_view a, std::string_view b) {
  const auto bytes = [](std::string_view text) {
    std::vector<uint32_t> symbols;
    for (const char c : text) symbols.push_back(static_cast<unsigned char>(c));
    return symbols;
  };
  return EditDistance(bytes(a), bytes(b));
}

std::string NearestName(const std::string& word, const std::vector<std::string>& candidates) {
  const auto letters = static_cast<int64_t>(word.size() - LeadingDashes(word));
  if (letters >= kMinBeginning) {
    const auto begins = [&](const std::string& candidate) { return candidate.starts_with(word); };
    const auto found = std::find_if(candidates.begin(), candidates.end(), begins);
    if (found != candidates.end() && std::none_of(found + 1, candidates.end(), begins)) {
      return *found;
    }
  }
  std::string nearest;
  int64_t best = std::min(kMostEdits + 1, letters);
  for (const std::string& candidate : candidates) {
    const int64_t distance = EditDistance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace platen
