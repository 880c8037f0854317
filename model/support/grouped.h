#pragma once

#include <cstdint>
#include <string>

namespace platen {

// 1234567 -> "1,234,567"; for number >= 0.
inline std::string Grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

}  // namespace platen
