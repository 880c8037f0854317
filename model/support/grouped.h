// Numbers in sentences.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

namespace platen {

// 1234567 -> "1,234,567"; for number >= 0.
template <std::integral T>
std::string Grouped(T number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

// "1 page", "2 pages", "1,490 pages".
template <std::integral T>
std::string Counted(T count, const std::string& thing) {
  return Grouped(count) + " " + thing + (count == 1 ? "" : "s");
}

// "512 bytes", "80 KiB", "3.2 MiB", "1.4 GiB".
inline std::string SizeText(int64_t bytes) {
  constexpr int64_t kKib = 1024;
  if (bytes < kKib) return Counted(bytes, "byte");
  const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int64_t tenths = bytes * 10 / kKib;
  size_t unit = 0;
  for (; tenths >= kKib * 10; tenths /= kKib) ++unit;
  const std::string whole = Grouped(tenths / 10);
  return whole + (tenths < 100 ? "." + std::to_string(tenths % 10) : "") + " " + units[unit];
}

}  // namespace platen
