#include "model/families/glm_ocr/config.h"

#include <algorithm>
#include <cmath>

#include "model/families/glm_input/rope_config.h"
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
  const glm_input::TextRope rope = glm_input::ReadTextRope(text, out.head_dim);
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
  config.tokens =
      ReadSpecialTokens(snapshot_dir, root.Object("text_config"), config.text.vocab_size);
  config.input = glm_input::ReadConfig(
      snapshot_dir, root, {config.text.hidden_size, config.text.vocab_size, config.tokens});
  return config;
}

}  // namespace platen::glm_ocr
