#include "stages/formats/html_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>

#include "model/support/utf8.h"

namespace platen {
namespace {

// What a tag is in text: `name` in small letters, with "/" before it at an end.
std::string_view TextOfTag(std::string_view name) {
  if (name == "/tr" || name == "br" || name == "br/" || name == "/p" || name == "/li") return "\n";
  if (name == "/td" || name == "/th") return "\t";
  return "";
}

std::string NameOfTag(std::string_view inside) {
  std::string name(inside.substr(0, inside.find_first_of(" \t\r\n")));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string Utf8Of(uint32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | (code >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

// "#233" or "#xE9"; empty: no number of a character.
std::string OfNumber(std::string_view digits) {
  const bool hex = digits.size() > 1 && (digits[1] == 'x' || digits[1] == 'X');
  digits.remove_prefix(hex ? 2 : 1);
  constexpr uint32_t kLast = 0x10FFFF;
  uint32_t code = 0;
  for (const char c : digits) {
    const auto byte = static_cast<unsigned char>(c);
    if (hex ? std::isxdigit(byte) == 0 : std::isdigit(byte) == 0) return "";
    const int digit = std::isdigit(byte) != 0 ? c - '0' : std::tolower(byte) - 'a' + 10;
    code = code * (hex ? 16 : 10) + static_cast<uint32_t>(digit);
    if (code > kLast) return "";
  }
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  return code == 0 || is_surrogate ? "" : Utf8Of(code);
}

// The characters of an entity without its "&" and ";"; empty: it is none we know.
std::string OfEntity(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNamed = {
      {{"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"apos", "'"}, {"nbsp", " "}}};
  if (name.starts_with("#")) return OfNumber(name);
  for (const auto& [known, text] : kNamed) {
    if (name == known) return std::string(text);
  }
  return "";
}

// White space at the end of lines, and lines of nothing else.
std::string Tidied(std::string_view text) {
  std::string out;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string_view line = text.substr(start, end - start);
    const size_t last = line.find_last_not_of(" \t\r");
    line = last == std::string_view::npos ? "" : line.substr(0, last + 1);
    if (!line.empty()) out.append(out.empty() ? "" : "\n").append(line);
    start = end + 1;
  }
  return out;
}

}  // namespace

std::string TextOfHtml(std::string_view html) {
  constexpr size_t kLongestEntity = 10;
  std::string out;
  size_t no_tag_ends_behind = html.size();  // as far as is known
  for (size_t at = 0; at < html.size();) {
    const std::string_view rest = html.substr(at);
    const unsigned char second = rest.size() > 1 ? static_cast<unsigned char>(rest[1]) : ' ';
    if (rest[0] == '<' && (std::isalpha(second) != 0 || second == '/') && at < no_tag_ends_behind) {
      const size_t end = rest.find('>');
      if (end != std::string_view::npos) {
        out += TextOfTag(NameOfTag(rest.substr(1, end - 1)));
        at += end + 1;
        continue;
      }
      no_tag_ends_behind = at;
    } else if (rest[0] == '&') {
      const size_t end = rest.substr(0, kLongestEntity + 2).find(';');
      const std::string text =
          end == std::string_view::npos ? "" : OfEntity(rest.substr(1, end - 1));
      if (!text.empty()) {
        out += text;
        at += end + 1;
        continue;
      }
    }
    out += rest[0];
    ++at;
  }
  return Tidied(out);
}

}  // namespace platen
