#include "stages/readers/pixels.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "stages/readers/unreadable.h"

namespace platen {
namespace {

// Flips and transpositions by orientation value; the transposition comes first.
struct Turn {
  bool transpose;
  bool mirror_x;
  bool mirror_y;
};
constexpr Turn kTurns[9] = {{},
                            {false, false, false},
                            {false, true, false},
                            {false, true, true},
                            {false, false, true},
                            {true, false, false},
                            {true, true, false},
                            {true, true, true},
                            {true, false, true}};

// Pixels are copied in squares of this side, so that rows and columns both stay in the cache.
constexpr int kTile = 32;

Image Turned(const Image& in, const Turn& turn) {
  Image out(turn.transpose ? in.height : in.width, turn.transpose ? in.width : in.height);
  const ptrdiff_t in_row = static_cast<ptrdiff_t>(in.width) * Image::kChannels;
  const ptrdiff_t step_x = (turn.transpose ? in_row : Image::kChannels) * (turn.mirror_x ? -1 : 1);
  // Where the pixel at (x, y) of the turned image is now.
  const auto source = [&](int x, int y) {
    const int u = turn.mirror_x ? out.width - 1 - x : x;
    const int v = turn.mirror_y ? out.height - 1 - y : y;
    return turn.transpose ? in.Row(u) + ptrdiff_t{v} * Image::kChannels
                          : in.Row(v) + ptrdiff_t{u} * Image::kChannels;
  };
  for (int y0 = 0; y0 < out.height; y0 += kTile) {
    for (int x0 = 0; x0 < out.width; x0 += kTile) {
      const int x1 = std::min(x0 + kTile, out.width);
      for (int y = y0; y < std::min(y0 + kTile, out.height); ++y) {
        const uint8_t* from = source(x0, y);
        uint8_t* to = out.Row(y) + ptrdiff_t{x0} * Image::kChannels;
        for (int x = x0; x < x1; ++x, from += step_x, to += Image::kChannels) {
          std::memcpy(to, from, Image::kChannels);
        }
      }
    }
  }
  return out;
}

}  // namespace

void CheckPageSize(const std::string& path, int64_t width, int64_t height,
                   const ReadLimits& limits) {
  const std::string size = std::to_string(width) + "x" + std::to_string(height) + " pixels";
  if (width <= 0 || height <= 0) ThrowUnreadable(path, "the image is empty (" + size + ")");
  // Divides instead of multiplying: the product may not fit.
  if (width > limits.max_pixels / height || width > INT32_MAX || height > INT32_MAX) {
    ThrowUnreadable(path,
                    "the image is too large (" + size + "; the limit is " +
                        std::to_string(limits.max_pixels) + " pixels, --max-pixels raises it)",
                    FailureCode::kTooLarge);
  }
}

int64_t MostBytesFor(const ImageSize& size) {
  constexpr int64_t kBytesPerPixel = 32;
  constexpr int64_t kMaxPixels = INT64_MAX / 64;  // no page has as many; keeps the sum in range
  const int64_t pixels = size.width > kMaxPixels / std::max<int64_t>(size.height, 1)
                             ? kMaxPixels
                             : size.width * size.height;
  return kBytesPerPixel * pixels + (int64_t{64} << 20);
}

void TurnUpright(PageImage& page, int orientation) {
  if (orientation <= 1 || orientation > 8) return;
  const Turn& turn = kTurns[orientation];
  page.image = Turned(page.image, turn);
  if (turn.transpose) std::swap(page.dpi_x, page.dpi_y);
}

void GrayToRgb(const uint8_t* gray, size_t num_pixels, uint8_t* rgb) {
  for (size_t i = 0; i < num_pixels; ++i) {
    rgb[3 * i] = rgb[3 * i + 1] = rgb[3 * i + 2] = gray[i];
  }
}

void RgbaOnWhite(const uint8_t* rgba, size_t num_pixels, uint8_t* rgb) {
  for (size_t i = 0; i < num_pixels; ++i, rgba += 4, rgb += 3) {
    const int alpha = rgba[3];
    for (int c = 0; c < 3; ++c) {
      // Pillow works in 1/128 levels with a rounding offset of 128.
      const int t = 128 * (rgba[c] * alpha + 255 * (255 - alpha)) + (128 << 7);
      rgb[c] = static_cast<uint8_t>((((t >> 8) + t) >> 8) >> 7);
    }
  }
}

void CmykToRgb(const uint8_t* cmyk, size_t num_pixels, uint8_t* rgb) {
  for (size_t i = 0; i < num_pixels; ++i, cmyk += 4, rgb += 3) {
    const int light = 255 - cmyk[3];
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<uint8_t>(std::max(light - MulDiv255(cmyk[c], light), 0));
    }
  }
}

}  // namespace platen
