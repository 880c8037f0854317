// The few facts of an EXIF block a reader needs.
#pragma once

#include <cstdint>
#include <span>

namespace platen {

struct ExifFacts {
  int orientation = 1;  // 1 to 8
  double dpi_x = 0;     // 0: not given
  double dpi_y = 0;
};

// `block`: a TIFF structure, with or without "Exif\0\0" before it. Anything that is damaged or
// missing keeps its default: never throws, never reads outside the block.
ExifFacts ParseExif(std::span<const uint8_t> block);

}  // namespace platen
