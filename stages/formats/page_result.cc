#include "stages/formats/page_result.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace platen {
namespace {

// Length of the well-formed UTF-8 sequence at `at` (Unicode 15, table 3-7), or 0.
size_t SequenceLength(const std::string& s, size_t at) {
  const auto byte = [&](size_t i) {
    return i < s.size() ? static_cast<uint8_t>(s[i]) : uint8_t{0};
  };
  const uint8_t lead = byte(at);
  if (lead < 0x80) return 1;
  size_t length = 0;
  uint8_t low = 0x80, high = 0xBF;  // range of the second byte
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (byte(at + 1) < low || byte(at + 1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

void AppendHexEscape(std::string& out, char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto value = static_cast<uint8_t>(c);
  out += "\\x";
  out += kDigits[value >> 4];
  out += kDigits[value & 15];
}

}  // namespace

const char* DoubtCode(DoubtKind kind) {
  switch (kind) {
    case DoubtKind::kNoText:
      return "no_text";
    case DoubtKind::kLowConfidence:
      return "low_confidence";
    case DoubtKind::kForeignScript:
      return "foreign_script";
  }
  return "";
}

std::string DisplayName(const std::string& bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size();) {
    const size_t length = SequenceLength(bytes, i);
    const auto value = static_cast<uint8_t>(bytes[i]);
    if (length == 0 || value < 0x20 || value == 0x7F) {
      AppendHexEscape(out, bytes[i]);
      ++i;
      continue;
    }
    if (bytes[i] == '\\') out += '\\';
    out.append(bytes, i, length);
    i += length;
  }
  return out;
}

std::string Printable(const std::string& message) {
  std::string out;
  for (size_t i = 0; i < message.size();) {
    const size_t length = SequenceLength(message, i);
    const auto value = static_cast<uint8_t>(message[i]);
    const bool control =
        (value < 0x20 && message[i] != '\n') || value == 0x7F ||
        (length == 2 && value == 0xC2 && static_cast<uint8_t>(message[i + 1]) < 0xA0);
    const size_t bytes = std::max<size_t>(length, 1);
    for (size_t j = i; j < i + bytes; ++j) {
      if (control || length == 0) {
        AppendHexEscape(out, message[j]);
      } else {
        out += message[j];
      }
    }
    i += bytes;
  }
  return out;
}

std::string ValidUtf8(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = SequenceLength(text, i);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
    } else {
      out.append(text, i, length);
      i += length;
    }
  }
  return out;
}

}  // namespace platen
