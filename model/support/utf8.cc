#include "model/support/utf8.h"

#include <algorithm>
#include <cstdint>

namespace platen {
namespace {

// What a lead byte announces: the character's length and the range its second byte must lie in
// (Unicode table 3-7). length 0: not a lead byte.
struct LeadByte {
  size_t length;
  uint8_t second_low;
  uint8_t second_high;
};

LeadByte ClassifyLead(uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};  // continuation bytes and overlong two-byte forms
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};  // no overlong forms
  if (byte == 0xED) return {3, 0x80, 0x9F};  // no surrogates
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};  // up to U+10FFFF
  return {0, 0, 0};
}

// How many bytes at the start of `text` (not empty) are a character or the longest beginning of
// one, at least 1; and whether the character is complete.
struct Subpart {
  size_t length;
  bool complete;
};

Subpart ReadSubpart(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const LeadByte lead = ClassifyLead(byte(0));
  if (lead.length == 0) return {1, false};
  for (size_t i = 1; i < lead.length; ++i) {
    const uint8_t low = i == 1 ? lead.second_low : 0x80;
    const uint8_t high = i == 1 ? lead.second_high : 0xBF;
    if (i == text.size() || byte(i) < low || byte(i) > high) return {i, false};
  }
  return {lead.length, true};
}

}  // namespace

size_t WellFormedLength(std::string_view text) {
  if (text.empty()) return 0;
  const Subpart part = ReadSubpart(text);
  return part.complete ? part.length : 0;
}

size_t UnfinishedLength(std::string_view bytes) {
  for (size_t length = 1; length <= std::min<size_t>(bytes.size(), 3); ++length) {
    const std::string_view end = bytes.substr(bytes.size() - length);
    if (ClassifyLead(static_cast<uint8_t>(end[0])).length <= length) continue;
    const Subpart part = ReadSubpart(end);
    if (!part.complete && part.length == length) return length;
  }
  return 0;
}

std::string ToValidUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const Subpart part = ReadSubpart(bytes);
    out += part.complete ? bytes.substr(0, part.length) : kReplacementCharacter;
    bytes.remove_prefix(part.length);
  }
  return out;
}

std::vector<uint32_t> CodePoints(std::string_view bytes) {
  constexpr uint32_t kReplacement = 0xFFFD;
  std::vector<uint32_t> points;
  while (!bytes.empty()) {
    const Subpart part = ReadSubpart(bytes);
    // A lead byte of n > 1 bytes carries 7 - n bits, every other byte 6.
    uint32_t point = static_cast<uint8_t>(bytes[0]);
    if (part.length > 1) point &= 0x7FU >> part.length;
    for (size_t i = 1; i < part.length; ++i) {
      point = point << 6 | (static_cast<uint8_t>(bytes[i]) & 0x3FU);
    }
    points.push_back(part.complete ? point : kReplacement);
    bytes.remove_prefix(part.length);
  }
  return points;
}

bool EndsWithWholeCharacter(std::string_view bytes) {
  if (bytes.empty()) return true;
  // A lead byte always starts a new character, so what stands before it does not matter.
  for (size_t length = 1; length <= std::min<size_t>(4, bytes.size()); ++length) {
    const std::string_view tail = bytes.substr(bytes.size() - length);
    if (WellFormedLength(tail) == length) return tail != kReplacementCharacter;
  }
  return false;
}

}  // namespace platen
