#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace platen {

// RFC 4648, with padding.
std::string Base64(std::string_view bytes);

// What Base64 has made; nothing: it is something else.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace platen
