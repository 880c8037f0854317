#include "model/engine/repetition_text.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace platen {
namespace {

constexpr std::string_view kLeaders[] = {".", "-", "_", "=", "*", "~", "·",
                                         "•", "…", "‥", "–", "—", "─"};
constexpr std::string_view kSpaces[] = {" ", "\t", "&nbsp;", "\u00A0"};
constexpr std::string_view kSeparators[] = {"|", "-", "+", "=", ":"};
constexpr std::string_view kLineBreaks[] = {"\n", "\r"};
constexpr std::string_view kRowTags[] = {"table", "thead", "tbody", "tfoot", "tr", "caption"};
constexpr std::string_view kCellTags[] = {"td", "th", "colgroup", "col", "br"};

template <size_t N>
bool IsOneOf(const std::string_view (&words)[N], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

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

// The unit from the first place on at which neither a tag nor an entity nor a character is cut, and
// then its beginning: what stands in the unit doubled from that place.
std::string Turned(std::string_view unit) {
  size_t first = unit.find('<');
  if (first == std::string_view::npos) first = unit.find('&');
  if (first == std::string_view::npos) {
    const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
    const auto found = std::find_if(unit.begin(), unit.end(), begins);
    first = found == unit.end() ? 0 : static_cast<size_t>(found - unit.begin());
  }
  return std::string(unit.substr(first)).append(unit.substr(0, first));
}

bool OnlyLeaders(std::string_view text) {
  while (!text.empty()) {
    if (!Take(kLeaders, text) && !Take(kSpaces, text)) return false;
  }
  return true;
}

// Takes a tag of a table with its attributes; its name, empty: there is none.
std::string_view TakeTag(std::string_view& text) {
  const size_t end = text.find('>');
  if (!text.starts_with('<') || end == std::string_view::npos) return {};
  std::string_view tag = text.substr(1, end - 1);
  if (tag.find('<') != std::string_view::npos) return {};
  if (tag.starts_with('/')) tag.remove_prefix(1);
  const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n/"));
  if (!IsOneOf(kRowTags, name) && !IsOneOf(kCellTags, name)) return {};
  text.remove_prefix(end + 1);
  return name;
}

// Line breaks between tags say nothing about rows; without tags they end them.
UnitKind ClassifyTable(std::string_view text) {
  bool tags = false;
  bool row_tags = false;
  bool line_breaks = false;
  while (!text.empty()) {
    if (const std::string_view name = TakeTag(text); !name.empty()) {
      tags = true;
      row_tags = row_tags || IsOneOf(kRowTags, name);
    } else if (Take(kLineBreaks, text)) {
      line_breaks = true;
    } else if (!Take(kSpaces, text) && !Take(kSeparators, text)) {
      return UnitKind::kText;
    }
  }
  return row_tags || (!tags && line_breaks) ? UnitKind::kRows : UnitKind::kCells;
}

}  // namespace

UnitKind ClassifyUnit(std::string_view unit) {
  if (unit.empty()) return UnitKind::kText;
  const std::string text = Turned(unit);
  return OnlyLeaders(text) ? UnitKind::kLeader : ClassifyTable(text);
}

}  // namespace platen
