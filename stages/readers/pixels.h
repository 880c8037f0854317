// Pixel rules that all formats share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "stages/readers/document_reader.h"

namespace platen {

// Throws Error(kInput) if a side is not positive or the page has more than limits.max_pixels.
void CheckPageSize(const std::string& path, int64_t width, int64_t height,
                   const ReadLimits& limits);

// Bytes that a page of this size may take as stored, and in buffers while it is decoded. Plenty:
// the most wasteful format is text PNM, whose 16-bit pixels take 18 bytes, and what else a file
// holds (profiles, previews, a film) seldom exceeds some megabytes.
int64_t MostBytesFor(const ImageSize& size);

// Turns the page upright; `orientation` is the value of the EXIF and TIFF tag (1 to 8; other values
// leave it as it is). The resolutions turn with the image.
void TurnUpright(PageImage& page, int orientation);

// num_pixels gray bytes -> RGB.
void GrayToRgb(const uint8_t* gray, size_t num_pixels, uint8_t* rgb);

// num_pixels RGBA -> RGB on white, rounded as Pillow's alpha_composite.
void RgbaOnWhite(const uint8_t* rgba, size_t num_pixels, uint8_t* rgb);

// num_pixels CMYK (255 = full ink) -> RGB, rounded as Pillow's conversion.
void CmykToRgb(const uint8_t* cmyk, size_t num_pixels, uint8_t* rgb);

// (a * b) / 255, rounded to nearest.
inline uint8_t MulDiv255(int a, int b) {
  const int t = a * b + 128;
  return static_cast<uint8_t>(((t >> 8) + t) >> 8);
}

}  // namespace platen
