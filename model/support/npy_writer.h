// Writes arrays as .npy files (version 1, little endian, C order).
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace platen {

// `shape` must multiply to values.size(). Throws Error(kEnvironment) naming the file.
void WriteNpy(const std::string& path, std::span<const float> values,
              const std::vector<int64_t>& shape);
void WriteNpy(const std::string& path, std::span<const int64_t> values,
              const std::vector<int64_t>& shape);
void WriteNpy(const std::string& path, std::span<const uint8_t> values,
              const std::vector<int64_t>& shape);

// A float array too large to be held: written in pieces, from first to last.
class NpyStream {
 public:
  // Throws Error(kEnvironment) naming the file if it cannot be made.
  NpyStream(const std::string& path, const std::vector<int64_t>& shape);

  void Append(std::span<const float> values);

  // Throws Error(kEnvironment) if anything could not be written, std::logic_error if the pieces do
  // not fill the shape. Without it the file is incomplete.
  void Close();

 private:
  std::string path_;
  std::ofstream out_;
  int64_t missing_;  // values
};

}  // namespace platen
