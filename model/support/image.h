// An 8-bit RGB image in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace platen {

// Rows from the top, pixels from the left, three bytes R G B each, no padding.
// rgb.size() == width * height * 3.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;

  static constexpr int kChannels = 3;

  Image() = default;
  Image(int w, int h)
      : width(w), height(h), rgb(static_cast<size_t>(w) * static_cast<size_t>(h) * kChannels) {}

  bool empty() const { return width == 0 || height == 0; }
  const uint8_t* Row(int y) const {
    return rgb.data() + static_cast<size_t>(y) * static_cast<size_t>(width) * kChannels;
  }
  uint8_t* Row(int y) {
    return rgb.data() + static_cast<size_t>(y) * static_cast<size_t>(width) * kChannels;
  }
};

}  // namespace platen
