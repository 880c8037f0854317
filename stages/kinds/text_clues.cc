#include "stages/kinds/text_clues.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace platen {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool IsPageNumber(std::string_view text) {
  std::string bare;
  for (const char c : LowerAscii(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) bare += c;
    if (static_cast<unsigned char>(c) >= 0x80 && bare.size() > 12) return false;
  }
  if (bare.empty() || bare.size() > 12) return false;
  for (const std::string_view word : {"page", "seite", "pag", "of", "von"}) {
    if (const size_t at = bare.find(word); at != std::string::npos) bare.erase(at, word.size());
  }
  if (bare.empty() || bare.size() > 8) return false;
  const bool digits = std::all_of(bare.begin(), bare.end(), IsDigit);
  const bool roman = bare.size() <= 7 && bare.find_first_not_of("ivxlc") == std::string::npos;
  return digits || roman;
}

bool BeginsCaption(std::string_view text) {
  const std::string lower = LowerAscii(text.substr(0, std::min<size_t>(text.size(), 12)));
  constexpr std::array<std::string_view, 9> kWords = {"fig", "abb",   "table", "tab.", "plate",
                                                      "map", "chart", "photo", "tafel"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    if (!lower.starts_with(word)) return false;
    return std::any_of(lower.begin() + static_cast<std::ptrdiff_t>(word.size()), lower.end(),
                       IsDigit);
  });
}

bool BeginsSection(std::string_view text) {
  constexpr std::array<std::string_view, 17> kNames = {
      "abstract",   "appendix",   "bibliography", "chapter",    "conclusion", "contents",
      "discussion", "index",      "introduction", "literature", "materials",  "method",
      "preface",    "references", "results",      "section",    "summary"};
  const std::string lower = LowerAscii(text.substr(0, std::min<size_t>(text.size(), 16)));
  const bool named = std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    if (!lower.starts_with(name)) return false;
    const std::string_view rest = std::string_view(lower).substr(name.size());
    return rest.empty() || rest == "s" || rest.find_first_of(" :.") == 0;
  });
  if (named) return true;
  size_t digits = 0;
  while (digits < lower.size() && IsDigit(lower[digits])) ++digits;
  if (digits == 0 || digits > 2 || digits == lower.size()) return false;
  return lower[digits] == '.' || lower[digits] == ')';
}

bool BeginsNote(std::string_view text) {
  if (text.starts_with('(')) text.remove_prefix(1);
  if (text.starts_with('*') || text.starts_with("\xE2\x80\xA0")) return true;
  return !text.empty() && (IsDigit(text[0]) || text.starts_with("\xC2\xB9") ||
                           text.starts_with("\xC2\xB2") || text.starts_with("\xC2\xB3"));
}

bool IsCapitals(std::string_view text) {
  size_t large = 0, other = 0;
  for (const char c : text) {
    const bool is_large = std::isupper(static_cast<unsigned char>(c)) != 0;
    large += is_large ? 1 : 0;
    other += is_large || c == ' ' ? 0 : 1;
  }
  return large >= 4 && large >= 4 * other;
}

bool EndsSentence(std::string_view text) {
  while (!text.empty() && (text.back() == '"' || text.back() == ')')) text.remove_suffix(1);
  return text.ends_with('.') || text.ends_with(',') || text.ends_with(';') || text.ends_with('!') ||
         text.ends_with('?') || text.ends_with("\xE2\x80\x9D");
}

}  // namespace platen
