#include "stages/formats/base64.h"

#include <array>
#include <cstdint>

namespace platen {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string Base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      out += k <= group.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::array<int8_t, 256> value;
  value.fill(-1);
  for (size_t i = 0; i < kDigits.size(); ++i) {
    value[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
  }
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_padding = i >= text.size() - padding;
    const int digit = is_padding ? 0 : value[static_cast<unsigned char>(text[i])];
    if (digit < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (i % 4 != 3) continue;
    for (const int shift : {16, 8, 0}) out += static_cast<char>(bits >> shift & 255);
    bits = 0;
  }
  out.resize(out.size() - padding);
  return out;
}

}  // namespace platen
