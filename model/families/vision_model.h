// The image encoder of a family, as the engine sees it.
#pragma once

#include <memory>
#include <span>

#include "model/families/prompt.h"
#include "model/families/text_model.h"
#include "model/families/workspace.h"
#include "model/ops/encoder_attention.h"
#include "model/ops/observer.h"
#include "model/ops/tensor.h"
#include "model/support/image.h"

namespace platen {

// What an encoder takes for a precision unless told otherwise: exact integers beside int8 linears,
// f32 beside f32 ones.
VisionAttention AttentionFor(Precision precision);

// What generic code needs to know of an encoder before it is loaded.
struct VisionSizes {
  int patch_size = 0;         // pixels
  int patch_values = 0;       // of one flattened patch
  int patches_per_token = 0;  // patches that make one image token
  AttentionShape attention;   // a row is a patch; keys are the patches of its image
};

// An image ready for the encoder: resized pixels and their patch grid.
struct PreparedImage {
  Image pixels;
  PatchGrid grid;
};

// Immutable once loaded. Thread-safe with different workspaces.
class VisionModel {
 public:
  virtual ~VisionModel() = default;

  // Resizes a crop to its patch grid. Throws Error(kInput) for a crop that no grid fits.
  virtual PreparedImage Prepare(const Image& crop) const = 0;

  // The normalised patch rows [grid.num_patches(), patch_values] that Encode starts from.
  virtual void WritePatches(const PreparedImage& image, std::span<float> rows) const = 0;

  virtual std::unique_ptr<Workspace> MakeWorkspace() const = 0;

  // images: any number, in order. out [sum of image tokens, D], one row per image token; an image's
  // rows do not depend on the other images.
  virtual void Encode(std::span<const PreparedImage* const> images, Workspace& workspace,
                      MatView out, const Observer& observer) const = 0;
};

}  // namespace platen
