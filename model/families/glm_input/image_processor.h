// From an RGB image to patch rows, exactly as the reference image processor does.
//
// Source: transformers Glm46VImageProcessor on the torchvision backend: smart_resize, uint8 bicubic
// with antialiasing, fused rescale and normalise, merge-block patch order.
#pragma once

#include <array>
#include <span>

#include "model/families/glm_input/config.h"
#include "model/families/vision_model.h"
#include "model/support/image.h"

namespace platen::glm_input {

// Size an image is resized to; both sides are multiples of config.factor().
struct ResizeTarget {
  int width = 0;
  int height = 0;
  bool operator==(const ResizeTarget&) const = default;
};

// Throws Error(kInput) for empty images and for an aspect ratio above 200.
ResizeTarget SmartResize(int width, int height, const ImageProcessorConfig& config);

// Immutable, thread-safe.
class ImageProcessor {
 public:
  explicit ImageProcessor(const ImageProcessorConfig& config);

  // Throws Error(kInput) as SmartResize does.
  PreparedImage Prepare(const Image& image) const;

  // Writes the normalised patch rows [grid.num_patches(), patch_values()] in merge-block order
  // (four consecutive rows are one image token): value (channel, frame, y, x).
  void WritePatches(const PreparedImage& image, std::span<float> rows) const;

  int patch_values() const;

 private:
  ImageProcessorConfig config_;
  std::array<std::array<float, 256>, 3> normalised_;  // value of every level, per channel
};

}  // namespace platen::glm_input
