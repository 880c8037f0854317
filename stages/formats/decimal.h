// Numbers in text formats.
#pragma once

#include <string>

namespace platen {

// `value` with at most `places` (up to 9) digits behind the point, none of them a trailing zero,
// whatever the locale. What is no finite number is 0.
std::string Decimal(double value, int places);

}  // namespace platen
