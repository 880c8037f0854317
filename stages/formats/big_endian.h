// Numbers of binary formats that begin with the highest byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace platen {

// As many bytes as asked for; beyond eight the first are 0.
inline void AppendBigEndian(uint64_t value, int bytes, std::string& out) {
  constexpr int kBytes = sizeof(value);
  for (int i = bytes - 1; i >= 0; --i) {
    out += static_cast<char>(i < kBytes ? value >> (8 * i) & 255 : 0);
  }
}

// Of 1 to 4 bytes, all of `bytes`.
inline uint32_t BigEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

}  // namespace platen
