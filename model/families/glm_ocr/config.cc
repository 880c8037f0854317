#include "model/families/glm_ocr/config.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "model/families/glm_ocr/rope_config.h"
#include "model/support/error.h"
#include "model/support/json_fields.h"

namespace platen::glm_ocr {
namespace {

// Limits on sizes, far above any model of this family. Each product formed from them in this
// program (weights of one tensor, values of one patch) fits its type.
constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr int kMaxWidth = 1 << 16;         // hidden sizes
constexpr int kMaxIntermediate = 1 << 18;  // SwiGLU widths
constexpr int kMaxLayers = 1024;
constexpr int kMaxHeads = 1024;
constexpr int kMaxHeadDim = 4096;
constexpr int kMaxVocab = 1 << 20;
constexpr int kMaxPositions = 1 << 24;
constexpr int kMaxPatchSize = 256;
constexpr int kMaxTemporalPatch = 16;
constexpr int64_t kMaxPixelVolume = int64_t{1} << 28;
constexpr double kMinEpsilon = 1e-12;
constexpr double kMaxEpsilon = 0.1;

// Values that generic code of the reference honours for any model: another reach of attention.
void RefuseOtherAttention(const JsonObject& text) {
  text.ExpectIfPresent("sliding_window", nullptr);
  text.ExpectIfPresent("attention_chunk_size", nullptr);
  text.ExpectIfPresent("is_causal", true);
  if (!text.Has("layer_types")) return;
  for (const std::string& type : text.Strings("layer_types", kMaxLayers)) {
    if (type != "full_attention") {
      text.Fail("layer_types",
                "has " + JsonExcerpt(type) + "; only \"full_attention\" is supported");
    }
  }
}

TextConfig ReadText(const JsonObject& root) {
  const JsonObject text = root.Object("text_config");
  text.ExpectIfPresent("model_type", "glm_ocr_text");
  text.ExpectIfPresent("hidden_act", "silu");
  text.ExpectIfPresent("attention_bias", false);
  RefuseOtherAttention(text);
  TextConfig out;
  out.vocab_size = text.Int("vocab_size", 1, kMaxVocab);
  out.hidden_size = text.Int("hidden_size", 1, kMaxWidth);
  out.intermediate_size = text.Int("intermediate_size", 1, kMaxIntermediate);
  out.num_layers = text.Int("num_hidden_layers", 1, kMaxLayers);
  // Absent in the reference's own class: no draft layer.
  if (text.Has("num_nextn_predict_layers")) {
    out.num_mtp_layers = text.Int("num_nextn_predict_layers", 0, 1);
  }
  out.num_heads = text.Int("num_attention_heads", 1, kMaxHeads);
  out.num_kv_heads = text.Int("num_key_value_heads", 1, kMaxHeads);
  if (out.num_heads % out.num_kv_heads != 0) {
    text.Fail("num_key_value_heads", std::to_string(out.num_kv_heads) +
                                         " does not divide num_attention_heads, " +
                                         std::to_string(out.num_heads));
  }
  out.head_dim = text.Int("head_dim", 2, kMaxHeadDim);
  if (out.head_dim % 2 != 0) text.Fail("head_dim", "must be even for rotary pairs");
  out.max_positions = text.Int("max_position_embeddings", 1, kMaxPositions);
  out.rms_norm_eps = static_cast<float>(text.Number("rms_norm_eps", kMinEpsilon, kMaxEpsilon));
  const TextRope rope = ReadTextRope(text, out.head_dim);
  out.rope_theta = rope.theta;
  out.mrope_section = rope.mrope_section;
  // The reference ties if either place says so.
  const auto tied = [](const JsonObject& object) {
    return object.Has("tie_word_embeddings") && object.Bool("tie_word_embeddings");
  };
  const bool tied_root = tied(root);
  const bool tied_text = tied(text);
  out.tie_word_embeddings = tied_root || tied_text;
  return out;
}

VisionConfig ReadVision(const JsonObject& root, const TextConfig& text) {
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
  if (out.out_hidden_size != text.hidden_size) {
    vision.Fail("out_hidden_size", "is " + std::to_string(out.out_hidden_size) +
                                       ", text_config.hidden_size is " +
                                       std::to_string(text.hidden_size));
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

Config ReadConfig(const std::string& snapshot_dir) {
  const std::string config_path = SnapshotFile(snapshot_dir, "config.json");
  const nlohmann::json json = ReadJsonFile(config_path, kMaxConfigBytes);
  const JsonObject root(json, config_path);
  root.Required("model_type");
  root.ExpectIfPresent("model_type", "glm_ocr");
  if (root.Has("quantization_config")) {
    root.Fail("quantization_config", "quantised snapshots are not supported; use the BF16 one");
  }
  Config config;
  config.text = ReadText(root);
  config.vision = ReadVision(root, config.text);
  config.tokens =
      ReadSpecialTokens(snapshot_dir, root.Object("text_config"), config.text.vocab_size);
  config.image_tokens = ReadImageTokens(root, config.tokens, config.text.vocab_size);
  config.image_processor =
      ReadImageProcessor(SnapshotFile(snapshot_dir, "preprocessor_config.json"), config.vision);
  return config;
}

}  // namespace platen::glm_ocr
