// Zstandard, for the run's own files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace platen {

std::string Compress(std::string_view bytes);

// Nothing if `compressed` is not of Compress, or would take more than `max_bytes`.
std::optional<std::string> Decompress(std::string_view compressed, size_t max_bytes);

}  // namespace platen
