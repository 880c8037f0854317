// Numbers in sentences.
#pragma once

#include <cstdint>
#include <string>

namespace platen {

// "7", "1,490".
inline std::string Number(int64_t number) {
  std::string digits = std::to_string(number);
  const int64_t first = number < 0 ? 1 : 0;
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

// "1 page", "2 pages", "1,490 pages".
inline std::string Count(int64_t number, const std::string& thing) {
  return Number(number) + " " + thing + (number == 1 ? "" : "s");
}
inline std::string Count(size_t number, const std::string& thing) {
  return Count(static_cast<int64_t>(number), thing);
}

}  // namespace platen
