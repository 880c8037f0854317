#include "stages/formats/decimal.h"

#include <array>
#include <charconv>
#include <cmath>

namespace platen {

std::string Decimal(double value, int places) {
  if (!std::isfinite(value)) return "0";
  std::array<char, 400> digits;  // the largest double has 309 before the point
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                          std::chars_format::fixed, places);
  std::string text(digits.data(), error == std::errc() ? end : digits.data());
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

}  // namespace platen
