// How the samples of a TIFF page become RGB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace platen {

// Plain facts of a page; the functions are pure.
struct TiffSamples {
  uint16_t bits = 1;         // of a sample: 1, 2, 4, 8, 16
  uint16_t per_pixel = 1;    // samples that belong to a pixel
  uint16_t photometric = 0;  // libtiff's PHOTOMETRIC_: min-is-white or -black, palette, RGB, CMYK
  int alpha_index = -1;      // sample that is alpha; -1: none
  bool alpha_premultiplied = false;
  bool alpha_on_white = false;                  // else it is dropped
  std::array<std::vector<uint8_t>, 3> palette;  // R, G, B by level

  bool is_gray() const;
  bool is_bitmap() const { return bits == 1 && per_pixel == 1 && is_gray(); }
  uint16_t colours() const;  // samples of a pixel that are colours; they come first

  // Bytes that `num_samples` samples take as stored.
  size_t PackedBytes(size_t num_samples) const { return (num_samples * bits + 7) / 8; }

  // Samples as stored -> one byte each: levels scaled to 0..255, palette indices as they are.
  void Unpack(const uint8_t* packed, size_t num_samples, uint8_t* samples) const;

  // Unpacked samples, per_pixel for each pixel, -> RGB.
  void ToRgb(const uint8_t* samples, size_t num_pixels, uint8_t* rgb) const;

 private:
  void ApplyAlpha(const uint8_t* samples, size_t num_pixels, uint8_t* rgb) const;
};

// RGB of the eight pixels of a byte: bitmaps are the largest pages there are.
class BitmapTable {
 public:
  explicit BitmapTable(bool zero_is_white);
  void ToRgb(const uint8_t* packed, size_t num_pixels, uint8_t* rgb) const;

 private:
  std::array<std::array<uint8_t, 24>, 256> rgb_of_byte_;
};

}  // namespace platen
