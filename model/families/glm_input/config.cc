#include "model/families/glm_input/config.h"

#include <set>
#include <string>
#include <vector>

#include "model/families/glm_input/rope_config.h"
#include "model/support/json_fields.h"

namespace platen::glm_input {
namespace {

// Limits on sizes, far above any model of this family. Each product formed from them in this
// program (weights of one tensor, values of one patch) fits its type.
constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr int kMaxWidth = 1 << 16;         // hidden sizes
constexpr int kMaxIntermediate = 1 << 18;  // SwiGLU widths
constexpr int kMaxLayers = 1024;
constexpr int kMaxHeads = 1024;
constexpr int kMaxPatchSize = 256;
constexpr int kMaxTemporalPatch = 16;
constexpr int64_t kMaxPixelVolume = int64_t{1} << 28;
constexpr double kMinEpsilon = 1e-12;
constexpr double kMaxEpsilon = 0.1;

VisionConfig ReadVision(const JsonObject& root, const DecoderFacts& decoder) {
  const JsonObject vision = root.Object("vision_config");
  vision.ExpectIfPresent("model_type", "glm_ocr_vision");
  vision.ExpectIfPresent("hidden_act", "silu");
  vision.ExpectIfPresent("attention_bias", true);
  vision.ExpectIfPresent("in_channels", 3);
  vision.ExpectIfPresent("spatial_merge_size", 2);
  VisionConfig out;
  out.in_channels = 3;
  out.spatial_merge_size = 2;
  out.depth = vision.Int("depth", 1, kMaxLayers);
  out.hidden_size = vision.Int("hidden_size", 4, kMaxWidth);
  out.num_heads = vision.Int("num_heads", 1, kMaxHeads);
  if (out.hidden_size % (4 * out.num_heads) != 0) {
    vision.Fail("num_heads", "hidden_size " + std::to_string(out.hidden_size) + " divided among " +
                                 std::to_string(out.num_heads) +
                                 " heads is not a multiple of 4, as rotary over rows and columns "
                                 "needs");
  }
  out.intermediate_size = vision.Int("intermediate_size", 1, kMaxIntermediate);
  out.patch_size = vision.Int("patch_size", 1, kMaxPatchSize);
  out.temporal_patch_size = vision.Int("temporal_patch_size", 1, kMaxTemporalPatch);
  out.out_hidden_size = vision.Int("out_hidden_size", 1, kMaxWidth);
  if (out.out_hidden_size != decoder.hidden_size) {
    vision.Fail("out_hidden_size", "is " + std::to_string(out.out_hidden_size) +
                                       ", text_config.hidden_size is " +
                                       std::to_string(decoder.hidden_size));
  }
  out.rms_norm_eps = static_cast<float>(vision.Number("rms_norm_eps", kMinEpsilon, kMaxEpsilon));
  out.rope_theta = ReadVisionTheta(vision);
  // Other names of the same, by which the reference may be told something else.
  vision.ExpectIfPresent("num_hidden_layers", out.depth);
  vision.ExpectIfPresent("num_attention_heads", out.num_heads);
  vision.ExpectIfPresent("head_dim", out.head_dim());
  return out;
}

// Ids of the image tokens, each its own.
ImageTokens ReadImageTokens(const JsonObject& root, const SpecialTokens& tokens, int vocab_size) {
  ImageTokens out;
  out.image = root.Int("image_token_id", 0, vocab_size - 1);
  out.start = root.Int("image_start_token_id", 0, vocab_size - 1);
  out.end = root.Int("image_end_token_id", 0, vocab_size - 1);
  std::set<TokenId> distinct(tokens.stop.begin(), tokens.stop.end());
  const auto require_new = [&](TokenId id, const char* field) {
    if (!distinct.insert(id).second) {
      root.Fail(field, std::to_string(id) + " is also the id of another special token");
    }
  };
  require_new(out.image, "image_token_id");
  require_new(out.start, "image_start_token_id");
  require_new(out.end, "image_end_token_id");
  return out;
}

std::array<double, 3> ReadChannelValues(const JsonObject& object, const char* key, double low,
                                        std::array<double, 3> fallback) {
  constexpr double kMaxChannelValue = 1000.0;
  if (!object.Has(key)) return fallback;
  const std::vector<double> values = object.Numbers(key, 3, low, kMaxChannelValue);
  return {values[0], values[1], values[2]};
}

void RequireEqual(const JsonObject& object, const char* key, int value, const char* config_field,
                  int config_value) {
  if (value == config_value) return;
  object.Fail(key, "is " + std::to_string(value) + ", but vision_config." + config_field +
                       " of config.json is " + std::to_string(config_value));
}

// Absent fields take the defaults of the reference class, Glm46VImageProcessor.
ImageProcessorConfig ReadImageProcessor(const std::string& path, const VisionConfig& vision) {
  const nlohmann::json json = ReadJsonFile(path, kMaxConfigBytes);
  const JsonObject root(json, path);
  if (root.Has("image_processor_type") &&
      root.Required("image_processor_type") != "Glm46VImageProcessorFast") {
    root.ExpectIfPresent("image_processor_type", "Glm46VImageProcessor");
  }
  for (const char* step : {"do_resize", "do_rescale", "do_normalize", "do_convert_rgb"}) {
    root.ExpectIfPresent(step, true);
  }
  constexpr int kBicubic = 3;
  root.ExpectIfPresent("resample", kBicubic);

  ImageProcessorConfig out;
  out.patch_size = root.Has("patch_size") ? root.Int("patch_size", 1, kMaxPatchSize) : 14;
  out.temporal_patch_size =
      root.Has("temporal_patch_size") ? root.Int("temporal_patch_size", 1, kMaxTemporalPatch) : 2;
  out.merge_size = root.Has("merge_size") ? root.Int("merge_size", 1, kMaxPatchSize) : 2;
  RequireEqual(root, "patch_size", out.patch_size, "patch_size", vision.patch_size);
  RequireEqual(root, "temporal_patch_size", out.temporal_patch_size, "temporal_patch_size",
               vision.temporal_patch_size);
  RequireEqual(root, "merge_size", out.merge_size, "spatial_merge_size", vision.spatial_merge_size);

  out.min_pixels = 112 * 112;
  out.max_pixels = 28 * 28 * 15000;
  if (root.Has("size")) {
    const JsonObject size = root.Object("size");
    out.min_pixels = size.Int64("shortest_edge", 1, kMaxPixelVolume);
    out.max_pixels = size.Int64("longest_edge", out.min_pixels, kMaxPixelVolume);
  }
  constexpr double kMinStd = 1e-6;
  out.mean = ReadChannelValues(root, "image_mean", -1000.0, {0.48145466, 0.4578275, 0.40821073});
  out.std = ReadChannelValues(root, "image_std", kMinStd, {0.26862954, 0.26130258, 0.27577711});
  if (root.Has("rescale_factor")) out.rescale_factor = root.Number("rescale_factor", 1e-6, 1.0);
  return out;
}

}  // namespace

Config ReadConfig(const std::string& snapshot_dir, const JsonObject& root,
                  const DecoderFacts& decoder) {
  Config config;
  config.vision = ReadVision(root, decoder);
  config.image_tokens = ReadImageTokens(root, decoder.tokens, decoder.vocab_size);
  config.image_processor =
      ReadImageProcessor(SnapshotFile(snapshot_dir, "preprocessor_config.json"), config.vision);
  return config;
}

}  // namespace platen::glm_input
