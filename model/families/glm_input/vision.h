// The vision encoder: patches of images -> one embedding per image token.
//
//   patches -> patch_embed -> blocks -> post_layernorm -> 2x2 downsample -> merger -> embeddings
//
// P = patches of all images of a batch, one image after another; C = hidden size, H heads of d.
// Linears run over all P rows at once; attention stays inside each image.
// Source: transformers GlmOcrVisionModel.
#pragma once

#include <span>
#include <vector>

#include "model/families/glm_input/config.h"
#include "model/families/glm_input/image_processor.h"
#include "model/families/glm_input/modules.h"
#include "model/families/vision_model.h"
#include "model/ops/encoder_attention.h"
#include "model/ops/observer.h"

namespace platen::glm_input {

struct VisionWorkspace : Workspace {
  Mat pixels;                        // [P, patch_values]
  Mat x;                             // [P, C] residual stream
  Mat normed;                        // [P, C]
  EncoderAttentionMemory attention;  // of one block at a time
  Mat cos, sin;                      // [P, d]
  Mat merged;                        // [P / 4, D]
  Mat merged_normed;                 // [P / 4, D]
};

class VisionEncoder final : public VisionModel {
 public:
  // `weights` and `kernels` outlive the encoder; the weights may be loaded after it is made.
  VisionEncoder(const VisionConfig& config, const ImageProcessorConfig& images,
                const VisionWeights& weights, const KernelTable& kernels,
                VisionAttention attention = VisionAttention::kF32);

  PreparedImage Prepare(const Image& crop) const override { return processor_.Prepare(crop); }
  void WritePatches(const PreparedImage& image, std::span<float> rows) const override {
    processor_.WritePatches(image, rows);
  }
  std::unique_ptr<Workspace> MakeWorkspace() const override;
  void Encode(std::span<const PreparedImage* const> images, Workspace& workspace, MatView out,
              const Observer& observer) const override;

 private:
  // Where an image's rows lie in the batch.
  struct Segment {
    ImageRows rows;
    PatchGrid grid;
  };
  struct Plan {
    std::vector<Segment> segments;
    int64_t num_patches = 0;
  };
  static Plan MakePlan(std::span<const PreparedImage* const> images);
  void LoadPatches(std::span<const PreparedImage* const> images, const Plan& plan,
                   VisionWorkspace& ws) const;
  void Block(const VisionBlockWeights& w, VisionWorkspace& ws) const;
  void ScatterQkv(const VisionBlockWeights& w, const Linear::Piece& piece,
                  VisionWorkspace& ws) const;
  void NormAndRotate(std::span<const float> norm, int64_t first_patch, MatView rows,
                     VisionWorkspace& ws) const;
  void Tail(VisionWorkspace& ws, MatView out, const Observer& observer) const;

  const VisionConfig config_;
  const VisionWeights& weights_;
  const KernelTable& kernels_;
  std::unique_ptr<const EncoderAttention> attention_;
  ImageProcessor processor_;
  std::vector<float> inverse_frequencies_;  // [d / 4]
};

}  // namespace platen::glm_input
