#include "model/support/display_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model/support/utf8.h"

namespace platen {
namespace {

bool IsAsciiControl(char c) {
  const auto value = static_cast<uint8_t>(c);
  return value < 0x20 || value == 0x7F;
}

// U+0080 to U+009F, as two bytes.
bool IsHighControl(std::string_view character) {
  return character.size() == 2 && static_cast<uint8_t>(character[0]) == 0xC2 &&
         static_cast<uint8_t>(character[1]) < 0xA0;
}

void AppendHexEscape(std::string& out, char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto value = static_cast<uint8_t>(c);
  out += "\\x";
  out += kDigits[value >> 4];
  out += kDigits[value & 15];
}

// Every character of `text` as `append(character, well_formed)` has it; a byte that starts no
// character is one by itself.
template <class Append>
void ForCharacters(std::string_view text, const Append& append) {
  while (!text.empty()) {
    const size_t length = WellFormedLength(text);
    append(text.substr(0, std::max<size_t>(length, 1)), length > 0);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
}

}  // namespace

std::string DisplayName(std::string_view bytes) {
  std::string out;
  ForCharacters(bytes, [&out](std::string_view character, bool well_formed) {
    if (!well_formed || IsAsciiControl(character[0])) {
      AppendHexEscape(out, character[0]);
      return;
    }
    if (character == "\\") out += '\\';
    out += character;
  });
  return out;
}

std::optional<std::string> NameFromDisplay(std::string_view display) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name;
  for (size_t i = 0; i < display.size(); ++i) {
    if (display[i] != '\\') {
      name += display[i];
    } else if (display.substr(i + 1, 1) == "\\") {
      name += display[++i];
    } else {
      const std::string_view escape = display.substr(i, 4);
      if (escape.size() < 4 || escape[1] != 'x') return std::nullopt;
      const size_t high = kDigits.find(escape[2]), low = kDigits.find(escape[3]);
      if (high == kDigits.npos || low == kDigits.npos) return std::nullopt;
      name += static_cast<char>(high * 16 + low);
      i += 3;
    }
  }
  if (DisplayName(name) != display) return std::nullopt;
  return name;
}

std::string Printable(std::string_view message) {
  std::string out;
  ForCharacters(message, [&out](std::string_view character, bool well_formed) {
    const bool control =
        (IsAsciiControl(character[0]) && character != "\n") || IsHighControl(character);
    if (well_formed && !control) {
      out += character;
    } else {
      for (const char c : character) AppendHexEscape(out, c);
    }
  });
  return out;
}

std::string QuotedText(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (IsAsciiControl(c)) {
      AppendHexEscape(out, c);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

std::string Joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace platen
