#include "apps/platen/commands/tune/inspect/token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "model/support/utf8.h"

namespace platen {
namespace {

constexpr size_t kMostBytes = 48, kMostOfText = 300;

struct Range {
  uint32_t first, last;
};

// Without ink, or for the direction of text: Unicode's default ignorables, its other spaces, and
// U+FFFE and U+FFFF.
constexpr Range kUnseen[] = {
    {0xA0, 0xA0},     {0xAD, 0xAD},     {0x34F, 0x34F},    {0x61C, 0x61C},   {0x115F, 0x1160},
    {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x2000, 0x200F},  {0x2028, 0x202F}, {0x205F, 0x206F},
    {0x3000, 0x3000}, {0x3164, 0x3164}, {0xFE00, 0xFE0F},  {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE0FFF}};

bool IsUnseen(uint32_t point) {
  return std::any_of(std::begin(kUnseen), std::end(kUnseen), [point](const Range& range) {
    return point >= range.first && point <= range.last;
  });
}

// One well-formed character.
std::string Shown(std::string_view character, bool mark_spaces) {
  const uint32_t point = CodePoints(character).front();
  if (point == ' ') return mark_spaces ? "␣" : " ";
  if (point == '\n') return "↵";
  if (point == '\t') return "⇥";
  if (point < 0x20 || (point >= 0x7F && point < 0xA0)) return fmt::format("\\x{:02X}", point);
  if (IsUnseen(point)) return fmt::format("\\u{{{:X}}}", point);
  return std::string(character);
}

std::string Shown(std::string_view bytes, size_t most, bool mark_spaces) {
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    if (at >= most) return text + "…";
    const std::string_view rest = bytes.substr(at);
    const size_t length = WellFormedLength(rest);
    text += length > 0 ? Shown(rest.substr(0, length), mark_spaces)
                       : fmt::format("\\x{:02X}", static_cast<unsigned char>(rest[0]));
    at += std::max<size_t>(length, 1);
  }
  return text;
}

}  // namespace

std::string VisibleToken(std::string_view bytes) { return Shown(bytes, kMostBytes, true); }

std::string VisibleText(std::string_view bytes) { return Shown(bytes, kMostOfText, true); }

std::string ReadableToken(std::string_view bytes) { return Shown(bytes, kMostBytes, false); }

}  // namespace platen
