// A fuzz target of one image format: its size from the header and its pixels.
#pragma once

#include "stages/readers/decoders.h"
#include "tests/fuzz/fuzz_input.h"

namespace platen::fuzz {

// Small, so that an input cannot be slow only because it is large.
inline constexpr int64_t kMaxPixels = 1 << 20;

inline ReadLimits Limits(bool composite_alpha_on_white) {
  ReadLimits limits;
  limits.max_pixels = kMaxPixels;
  limits.composite_alpha_on_white = composite_alpha_on_white;
  return limits;
}

// A page that is returned has the pixels that its size promises.
inline void CheckPage(const PageImage& page) {
  const Image& image = page.image;
  if (image.width <= 0 || image.height <= 0 || int64_t{image.width} * image.height > kMaxPixels ||
      image.rgb.size() !=
          static_cast<size_t>(image.width) * static_cast<size_t>(image.height) * 3) {
    std::abort();
  }
}

inline void FuzzImage(std::span<const uint8_t> bytes, ImageSize (*size)(const InputFile&),
                      PageImage (*decode)(const EncodedImage&, const ReadLimits&)) {
  const std::string path = "input";
  Run([&] {
    const MemoryFile file(bytes);
    size(InputFile(file.path()));
  });
  const bool white = bytes.size() % 2 == 1;
  Run([&] { CheckPage(decode({path, bytes}, Limits(white))); });
}

}  // namespace platen::fuzz
