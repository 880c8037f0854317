#include "model/families/glm_input/image_processor.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

#include "model/ops/resize_image.h"
#include "model/support/error.h"

namespace platen::glm_input {
namespace {

constexpr double kMaxAspectRatio = 200;

// Half-to-even, as Python's round(). The program never changes the rounding mode.
double RoundHalfEven(double value) { return std::nearbyint(value); }

std::string SizeText(int64_t width, int64_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

// Sides below one merged patch are scaled up, keeping the ratio and truncating.
void EnlargeToOneBlock(int64_t& width, int64_t& height, int factor) {
  if (width >= factor && height >= factor) return;
  const double scale = std::max(static_cast<double>(factor) / static_cast<double>(height),
                                static_cast<double>(factor) / static_cast<double>(width));
  height = static_cast<int64_t>(static_cast<double>(height) * scale);
  width = static_cast<int64_t>(static_cast<double>(width) * scale);
}

// The value of every level, (x - mean * 255) / (std * 255), in float32 as torchvision fuses it.
std::array<std::array<float, 256>, 3> NormaliseTable(const ImageProcessorConfig& config) {
  const float levels = static_cast<float>(1.0 / config.rescale_factor);
  std::array<std::array<float, 256>, 3> table;
  for (size_t c = 0; c < table.size(); ++c) {
    const float mean = static_cast<float>(config.mean[c]) * levels;
    const float std = static_cast<float>(config.std[c]) * levels;
    for (size_t level = 0; level < table[c].size(); ++level) {
      table[c][level] = (static_cast<float>(level) - mean) / std;
    }
  }
  return table;
}

}  // namespace

ResizeTarget SmartResize(int width, int height, const ImageProcessorConfig& config) {
  if (width <= 0 || height <= 0) {
    throw Error(ErrorKind::kInput, {}, "the image is empty (" + SizeText(width, height) + ")");
  }
  const int factor = config.factor();
  int64_t w = width;
  int64_t h = height;
  EnlargeToOneBlock(w, h, factor);
  const double dw = static_cast<double>(w);
  const double dh = static_cast<double>(h);
  if (std::max(dw, dh) / std::min(dw, dh) > kMaxAspectRatio) {
    throw Error(ErrorKind::kInput, {},
                "the image is too long and thin for the model (" + SizeText(width, height) +
                    "; at most 200 to 1)");
  }
  // A still image counts as temporal_patch_size equal frames.
  const double frames = config.temporal_patch_size;
  const double min_pixels = static_cast<double>(config.min_pixels);
  const double max_pixels = static_cast<double>(config.max_pixels);
  double out_h = RoundHalfEven(dh / factor) * factor;
  double out_w = RoundHalfEven(dw / factor) * factor;
  if (frames * out_h * out_w > max_pixels) {
    const double beta = std::sqrt(frames * dh * dw / max_pixels);
    out_h = std::max<double>(factor, std::floor(dh / beta / factor) * factor);
    out_w = std::max<double>(factor, std::floor(dw / beta / factor) * factor);
  } else if (frames * out_h * out_w < min_pixels) {
    const double beta = std::sqrt(min_pixels / (frames * dh * dw));
    out_h = std::ceil(dh * beta / factor) * factor;
    out_w = std::ceil(dw * beta / factor) * factor;
  }
  return {static_cast<int>(out_w), static_cast<int>(out_h)};
}

ImageProcessor::ImageProcessor(const ImageProcessorConfig& config)
    : config_(config), normalised_(NormaliseTable(config)) {}

int ImageProcessor::patch_values() const {
  return Image::kChannels * config_.temporal_patch_size * config_.patch_size * config_.patch_size;
}

PreparedImage ImageProcessor::Prepare(const Image& image) const {
  const ResizeTarget target = SmartResize(image.width, image.height, config_);
  PreparedImage prepared;
  prepared.pixels = ResizeBicubic(image, target.width, target.height);
  prepared.grid = {target.height / config_.patch_size, target.width / config_.patch_size};
  return prepared;
}

void ImageProcessor::WritePatches(const PreparedImage& image, std::span<float> rows) const {
  const int side = config_.patch_size;
  const int merge = config_.merge_size;
  const PatchGrid grid = image.grid;
  assert(rows.size() ==
         static_cast<size_t>(grid.num_patches()) * static_cast<size_t>(patch_values()));
  assert(image.pixels.width == grid.cols * side && image.pixels.height == grid.rows * side);

  float* out = rows.data();
  // One patch at (row, col): value (channel, frame, y, x); all frames are equal.
  const auto write_patch = [&](int row, int col) {
    for (size_t c = 0; c < Image::kChannels; ++c) {
      const float* const channel = out;
      for (int y = 0; y < side; ++y) {
        const uint8_t* pixel = image.pixels.Row(row * side + y) +
                               static_cast<size_t>(col * side) * Image::kChannels + c;
        for (int x = 0; x < side; ++x, pixel += Image::kChannels) *out++ = normalised_[c][*pixel];
      }
      for (int frame = 1; frame < config_.temporal_patch_size; ++frame) {
        out = std::copy_n(channel, side * side, out);
      }
    }
  };
  // Blocks of merge x merge patches in raster order, raster order inside a block.
  for (int block_row = 0; block_row < grid.rows; block_row += merge) {
    for (int block_col = 0; block_col < grid.cols; block_col += merge) {
      for (int r = 0; r < merge; ++r) {
        for (int c = 0; c < merge; ++c) write_patch(block_row + r, block_col + c);
      }
    }
  }
}

}  // namespace platen::glm_input
