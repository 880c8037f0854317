#include "stages/readers/tiff_samples.h"

#include <tiff.h>

#include <algorithm>
#include <cstring>

#include "stages/readers/pixels.h"

namespace platen {

bool TiffSamples::is_gray() const {
  return photometric == PHOTOMETRIC_MINISWHITE || photometric == PHOTOMETRIC_MINISBLACK;
}

uint16_t TiffSamples::colours() const {
  return photometric == PHOTOMETRIC_RGB ? 3 : photometric == PHOTOMETRIC_SEPARATED ? 4 : 1;
}

void TiffSamples::Unpack(const uint8_t* packed, size_t num_samples, uint8_t* samples) const {
  if (bits == 8) {
    std::memcpy(samples, packed, num_samples);
  } else if (bits == 16) {
    // libtiff has put them into the machine's order.
    for (size_t i = 0; i < num_samples; ++i) {
      uint16_t level;
      std::memcpy(&level, packed + 2 * i, 2);
      samples[i] = static_cast<uint8_t>(level >> 8);
    }
  } else {
    const unsigned mask = (1U << bits) - 1;
    const unsigned scale = photometric == PHOTOMETRIC_PALETTE ? 1 : 255 / mask;
    for (size_t i = 0; i < num_samples; ++i) {
      const size_t first_bit = i * bits;
      const unsigned level = packed[first_bit / 8] >> (8 - bits - first_bit % 8) & mask;
      samples[i] = static_cast<uint8_t>(level * scale);
    }
  }
}

void TiffSamples::ToRgb(const uint8_t* samples, size_t num_pixels, uint8_t* rgb) const {
  const size_t stride = per_pixel;
  for (size_t i = 0; i < num_pixels; ++i) {
    const uint8_t* in = samples + i * stride;
    uint8_t* out = rgb + 3 * i;
    switch (photometric) {
      case PHOTOMETRIC_RGB:
        std::memcpy(out, in, 3);
        break;
      case PHOTOMETRIC_SEPARATED:
        CmykToRgb(in, 1, out);
        break;
      case PHOTOMETRIC_PALETTE:
        for (size_t c = 0; c < 3; ++c) out[c] = palette[c][in[0]];
        break;
      case PHOTOMETRIC_MINISWHITE:
        out[0] = out[1] = out[2] = static_cast<uint8_t>(255 - in[0]);
        break;
      default:
        out[0] = out[1] = out[2] = in[0];
        break;
    }
  }
  if (alpha_index >= 0) ApplyAlpha(samples, num_pixels, rgb);
}

void TiffSamples::ApplyAlpha(const uint8_t* samples, size_t num_pixels, uint8_t* rgb) const {
  if (!alpha_on_white && !alpha_premultiplied) return;  // alpha is dropped
  const uint8_t* alpha = samples + alpha_index;
  for (size_t i = 0; i < num_pixels; ++i, rgb += 3, alpha += per_pixel) {
    if (!alpha_premultiplied) {
      const std::array<uint8_t, 4> rgba = {rgb[0], rgb[1], rgb[2], *alpha};
      RgbaOnWhite(rgba.data(), 1, rgb);
      continue;
    }
    for (int c = 0; c < 3; ++c) {
      // Premultiplied colours: add the white behind them, or divide the alpha out.
      const int value = alpha_on_white ? rgb[c] + 255 - *alpha
                        : *alpha == 0  ? 0
                                       : rgb[c] * 255 / *alpha;
      rgb[c] = static_cast<uint8_t>(std::min(value, 255));
    }
  }
}

BitmapTable::BitmapTable(bool zero_is_white) {
  for (size_t byte = 0; byte < rgb_of_byte_.size(); ++byte) {
    for (size_t i = 0; i < rgb_of_byte_[byte].size(); ++i) {
      const bool bit = (byte >> (7 - i / 3) & 1) != 0;
      rgb_of_byte_[byte][i] = bit != zero_is_white ? 255 : 0;
    }
  }
}

void BitmapTable::ToRgb(const uint8_t* packed, size_t num_pixels, uint8_t* rgb) const {
  for (; num_pixels >= 8; num_pixels -= 8, rgb += 24) {
    std::memcpy(rgb, rgb_of_byte_[*packed++].data(), 24);
  }
  if (num_pixels > 0) std::memcpy(rgb, rgb_of_byte_[*packed].data(), 3 * num_pixels);
}

}  // namespace platen
