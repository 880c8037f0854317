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

#include "model/families/glm_ocr/config.h"
#include "model/families/glm_ocr/image_processor.h"
#include "model/families/glm_ocr/modules.h"
#include "model/families/vision_model.h"
#include "model/ops/attention_pages.h"
#include "model/ops/observer.h"

namespace platen::glm_ocr {

struct VisionWorkspace : Workspace {
  Mat pixels;                            // [P, patch_values]
  Mat x;                                 // [P, C] residual stream
  Mat normed;                            // [P, C]
  Mat queries;                           // [H][P, d], rotated
  Mat attention_out;                     // [P, C]
  Mat cos, sin;                          // [P, d]
  Mat keys, values;                      // bytes: [H][pages], pages per image (PageShape)
  std::vector<const void*> key_pages;    // [H * pages]
  std::vector<const void*> value_pages;  // [H * pages]
  Mat merged;                            // [P / 4, D]
  Mat merged_normed;                     // [P / 4, D]
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
  // Where an image's rows and key pages lie in the batch.
  struct Segment {
    int64_t first_patch = 0;
    int64_t num_patches = 0;
    int64_t first_page = 0;
    int64_t num_pages = 0;
    PatchGrid grid;
  };
  // Up to kQueriesPerTask query rows of one image and head.
  struct AttentionTask {
    int64_t segment = 0;
    int64_t head = 0;
    int64_t first = 0;
    int64_t count = 0;
  };
  struct Plan {
    std::vector<Segment> segments;
    std::vector<AttentionTask> tasks;
    int64_t num_patches = 0;
    int64_t num_pages = 0;
  };
  // Consecutive patches whose keys lie in one page of each head.
  struct PageRun {
    int64_t patch = 0;
    int64_t count = 0;
    int64_t page = 0;     // of the first head
    int page_offset = 0;  // of the first patch in the page
  };
  Plan MakePlan(std::span<const PreparedImage* const> images) const;
  void LoadPatches(std::span<const PreparedImage* const> images, const Plan& plan,
                   VisionWorkspace& ws) const;
  void ReservePages(const Plan& plan, VisionWorkspace& ws) const;
  void ClearLastPages(const Plan& plan, VisionWorkspace& ws) const;
  void Block(const VisionBlockWeights& w, const Plan& plan, VisionWorkspace& ws) const;
  template <class Body>
  static void ForPageRuns(const Plan& plan, int64_t first_patch, int64_t count, const Body& body);
  void ScatterQkv(const VisionBlockWeights& w, const Plan& plan, const Linear::Piece& piece,
                  VisionWorkspace& ws) const;
  void ScatterHead(const VisionBlockWeights& w, const Plan& plan, const PageRun& run, int64_t head,
                   MatView rows, VisionWorkspace& ws) const;
  void NormAndRotate(std::span<const float> norm, int64_t patch, const float* x, float* y,
                     VisionWorkspace& ws) const;
  void Attend(const Plan& plan, VisionWorkspace& ws) const;
  void Tail(VisionWorkspace& ws, MatView out, const Observer& observer) const;

  const VisionConfig config_;
  const VisionWeights& weights_;
  const KernelTable& kernels_;
  AttentionFunction attention_;
  PageShape pages_;
  ImageProcessor processor_;
  std::vector<float> inverse_frequencies_;  // [d / 4]
};

}  // namespace platen::glm_ocr
