// Bytes as hexadecimal digits, two each, in lower case.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace platen {

std::string HexOf(std::string_view bytes);

// The inverse; nothing if the text is not what HexOf gives.
std::optional<std::string> BytesOfHex(std::string_view hex);

}  // namespace platen
