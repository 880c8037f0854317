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

}  // namespace platen
