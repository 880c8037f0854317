#include "bench/forecast.h"

namespace platen::bench {

namespace {

// Sizes in the released config.json of zai-org/GLM-OCR.
constexpr int kHidden = 1536, kInner = 4608, kVocabulary = 59392, kLayers = 16;
constexpr int kHeads = 16, kKvHeads = 8, kHeadDim = 128;
constexpr int kVisionHidden = 1024, kVisionInner = 4096, kVisionLayers = 24, kVisionHeads = 16;
constexpr int kPatchValues = 3 * 2 * 14 * 14;
constexpr int kPatchesPerToken = 4;

constexpr double Product(int outputs, int inputs) { return 1.0 * outputs * inputs; }

// gate, up and down of a SwiGLU.
constexpr double SwiGlu(int hidden, int inner) { return 3 * Product(inner, hidden); }

}  // namespace

ModelCounts CountsOfGlmOcr() {
  ModelCounts counts;
  counts.patch_weights = Product(kVisionHidden, kPatchValues) +
                         kVisionLayers * (4 * Product(kVisionHidden, kVisionHidden) +
                                          SwiGlu(kVisionHidden, kVisionInner));
  counts.image_token_weights = Product(kHidden, kPatchesPerToken * kVisionHidden) +
                               Product(kHidden, kHidden) + SwiGlu(kHidden, 3 * kHidden);
  counts.row_weights = kLayers * (Product((kHeads + 2 * kKvHeads) * kHeadDim, kHidden) +
                                  Product(kHidden, kHeads * kHeadDim) + SwiGlu(kHidden, kInner));
  counts.head_weights = Product(kVocabulary, kHidden);
  counts.patches_per_token = kPatchesPerToken;
  constexpr int kVisionHeadDim = kVisionHidden / kVisionHeads;
  counts.vision_attention = {kVisionLayers, kVisionHeads, kVisionHeadDim, kVisionHeadDim};
  counts.text_attention = {kLayers, kHeads, kHeadDim, kHeadDim};
  counts.cache.planes.assign(kLayers, {kKvHeads, kHeadDim, kHeadDim});
  return counts;
}

PageShape ShapeOfGlmOcrPage() {
  constexpr int64_t kImageTokens = 110, kTextTokens = 10, kOutputTokens = 35;
  PageShape shape;
  shape.patches.assign(PageWorkload::kCrops, kPatchesPerToken * kImageTokens);
  shape.prompts.assign(PageWorkload::kCrops, kImageTokens + kTextTokens);
  shape.image_tokens = PageWorkload::kCrops * kImageTokens;
  shape.output_tokens = PageWorkload::kCrops * kOutputTokens;
  return shape;
}

Range MeasuredShareOfLimit(std::string_view kernels) {
  if (kernels == "amx") return {0.30, 0.40};
  if (kernels == "avx512-vnni") return {0.53, 0.88};
  // Not measured page by page; linears reach 0.5 to 0.9 of their peak.
  if (kernels == "avx512" || kernels == "avx-vnni" || kernels == "avx2") return {0.45, 0.75};
  return {};
}

Range PagesPerHourWithGlmOcr(std::string_view kernels, const Peaks& core, int threads) {
  constexpr double kSecondsPerHour = 3600, kLeastScaling = 0.8;
  const PageShape shape = ShapeOfGlmOcrPage();
  // One page at a time, as it was measured.
  const double steps = static_cast<double>(shape.output_tokens) / PageWorkload::kCrops;
  const double limit =
      LimitOfPage(CountsOfGlmOcr(), shape, steps, core, Precision::kInt8, VisionAttention::kF32)
          .seconds();
  const Range share = MeasuredShareOfLimit(kernels);
  const double pages = threads * kSecondsPerHour / limit;
  return {share.low * pages * (threads > 1 ? kLeastScaling : 1), share.high * pages};
}

}  // namespace platen::bench
