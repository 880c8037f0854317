#include "stages/formats/list_mark.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace platen {
namespace {

// • · ▪ ■ ● ○ ◦ * + - and the en dash; the em dash begins speech.
constexpr std::array<std::string_view, 11> kBullets = {"\xE2\x80\xA2",
                                                       "\xC2\xB7",
                                                       "\xE2\x96\xAA",
                                                       "\xE2\x96\xA0",
                                                       "\xE2\x97\x8F",
                                                       "\xE2\x97\x8B",
                                                       "\xE2\x97\xA6",
                                                       "*",
                                                       "+",
                                                       "-",
                                                       "\xE2\x80\x93"};

constexpr size_t kMostDigits = 3;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

bool IsRoman(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("ivx") == std::string_view::npos;
}

// A few figures, a letter, or a small Roman number.
bool IsLabel(std::string_view text) {
  const bool number =
      !text.empty() && text.size() <= 2 && std::all_of(text.begin(), text.end(), IsDigit);
  return number || (text.size() == 1 && IsLetter(text[0])) || IsRoman(text);
}

// Bytes up to the sign at `end` and the space behind it; 0: there is none, or nothing follows.
size_t WithSpace(std::string_view text, size_t end) {
  return end + 2 < text.size() && text[end + 1] == ' ' ? end + 2 : 0;
}

}  // namespace

ListMark FindListMark(std::string_view text) {
  using Kind = ListMark::Kind;
  for (const std::string_view bullet : kBullets) {
    if (!text.starts_with(bullet)) continue;
    const size_t bytes = WithSpace(text, bullet.size() - 1);
    return bytes > 0 ? ListMark{Kind::kBullet, bytes} : ListMark{};
  }
  for (const auto& [box, kind] :
       {std::pair(kEmptyCheckBox, Kind::kOpenTask), std::pair(kTickedCheckBox, Kind::kDoneTask)}) {
    if (!text.starts_with(box)) continue;
    const size_t bytes = WithSpace(text, box.size() - 1);
    return bytes > 0 ? ListMark{kind, bytes} : ListMark{};
  }
  const bool bracket = text.starts_with('(');
  const size_t end = text.find_first_of(bracket ? ")" : ".)");
  if (end == std::string_view::npos || end > 1 + kMostDigits + 2) return {};
  const size_t bytes = WithSpace(text, end);
  const std::string_view name = text.substr(bracket ? 1 : 0, end - (bracket ? 1 : 0));
  if (bytes == 0 || name.empty()) return {};
  const bool digits = std::all_of(name.begin(), name.end(), IsDigit);
  if (!bracket && digits && name.size() <= kMostDigits) return {Kind::kNumber, bytes};
  return text[end] == ')' && IsLabel(name) ? ListMark{Kind::kLabel, bytes} : ListMark{};
}

}  // namespace platen
