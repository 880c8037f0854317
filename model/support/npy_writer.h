// Writes arrays as .npy files (version 1, little endian, C order).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace platen {

// `shape` must multiply to values.size(). Throws Error(kEnvironment) naming the file.
void WriteNpy(const std::string& path, std::span<const float> values,
              const std::vector<int64_t>& shape);
void WriteNpy(const std::string& path, std::span<const int64_t> values,
              const std::vector<int64_t>& shape);

}  // namespace platen
