// What `platen inspect` says of a GLM-OCR config.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "model/families/glm_ocr/architecture.h"
#include "model/support/grouped.h"

namespace platen::glm_ocr {
namespace {

using Json = nlohmann::ordered_json;

// Shortest text that reads back as the same number.
std::string NumberText(double value) { return nlohmann::json(value).dump(); }
std::string NumberText(float value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", static_cast<double>(value));
  return buffer;
}

std::string Text(int64_t value) { return std::to_string(value); }

FactSection TextFacts(const TextConfig& text, int64_t cache_values) {
  return {"text model",
          {{"layers", Text(text.num_layers) + " + " + Text(text.num_mtp_layers) + " draft"},
           {"hidden size", Text(text.hidden_size)},
           {"feed-forward size", Text(text.intermediate_size)},
           {"heads", Text(text.num_heads) + " query, " + Text(text.num_kv_heads) + " key/value, " +
                         Text(text.head_dim) + " wide"},
           {"vocabulary", Text(text.vocab_size)},
           {"positions", Text(text.max_positions)},
           {"rope", "theta " + NumberText(text.rope_theta) + ", sections " +
                        Text(text.mrope_section[0]) + " " + Text(text.mrope_section[1]) + " " +
                        Text(text.mrope_section[2])},
           {"norm epsilon", NumberText(text.rms_norm_eps)},
           {"head", text.tie_word_embeddings ? "tied to the embedding" : "its own table"},
           {"cache per token", Grouped(2 * cache_values) + " bytes in bf16, " +
                                   Grouped(4 * cache_values) + " in f32"}}};
}

FactSection VisionFacts(const VisionConfig& vision) {
  return {"vision model",
          {{"blocks", Text(vision.depth)},
           {"hidden size", Text(vision.hidden_size) + ", " + Text(vision.num_heads) + " heads, " +
                               Text(vision.head_dim()) + " wide"},
           {"feed-forward size", Text(vision.intermediate_size)},
           {"patch", Text(vision.patch_size) + " x " + Text(vision.patch_size) + " pixels, " +
                         Text(vision.temporal_patch_size) + " frames"},
           {"rope", "theta " + NumberText(vision.rope_theta)},
           {"norm epsilon", NumberText(vision.rms_norm_eps)}}};
}

FactSection ImageFacts(const ImageProcessorConfig& images) {
  // Sizes count every frame of a patch; a page is one image repeated.
  const int64_t frames = images.temporal_patch_size;
  const int64_t token_pixels = int64_t{images.factor()} * images.factor();
  return {"images",
          {{"pixels", Grouped(images.min_pixels / frames) + " to " +
                          Grouped(images.max_pixels / frames) + " after resizing"},
           {"image tokens", "up to " + Grouped(images.max_pixels / frames / token_pixels) +
                                ", one per " + Text(images.factor()) + " x " +
                                Text(images.factor()) + " pixels"}}};
}

}  // namespace

std::vector<FactSection> GlmOcr::Facts() const {
  return {TextFacts(config_.text, text_.cache.values_per_token()), VisionFacts(config_.vision),
          ImageFacts(config_.image_processor)};
}

std::vector<std::pair<std::string, std::string>> GlmOcr::TokenFacts() const {
  const ImageTokens& tokens = config_.image_tokens;
  return {{"image ids", Text(tokens.start) + " " + Text(tokens.image) + " " + Text(tokens.end) +
                            " (begin, image, end)"}};
}

Json GlmOcr::ConfigJson() const {
  const TextConfig& text = config_.text;
  const VisionConfig& vision = config_.vision;
  const ImageProcessorConfig& images = config_.image_processor;
  return {{"text",
           {{"layers", text.num_layers},
            {"mtp_layers", text.num_mtp_layers},
            {"hidden_size", text.hidden_size},
            {"intermediate_size", text.intermediate_size},
            {"heads", text.num_heads},
            {"kv_heads", text.num_kv_heads},
            {"head_dim", text.head_dim},
            {"vocab_size", text.vocab_size},
            {"max_positions", text.max_positions},
            {"rope_theta", text.rope_theta},
            {"mrope_section", text.mrope_section},
            {"rms_norm_eps", text.rms_norm_eps},
            {"tied_head", text.tie_word_embeddings},
            {"cache_values_per_token", text_.cache.values_per_token()}}},
          {"vision",
           {{"depth", vision.depth},
            {"hidden_size", vision.hidden_size},
            {"heads", vision.num_heads},
            {"intermediate_size", vision.intermediate_size},
            {"patch_size", vision.patch_size},
            {"temporal_patch_size", vision.temporal_patch_size},
            {"rope_theta", vision.rope_theta},
            {"rms_norm_eps", vision.rms_norm_eps}}},
          {"tokens",
           {{"image", config_.image_tokens.image},
            {"image_start", config_.image_tokens.start},
            {"image_end", config_.image_tokens.end},
            {"stop", config_.tokens.stop},
            {"pad", config_.tokens.pad}}},
          {"image_processor",
           {{"min_pixels", images.min_pixels},
            {"max_pixels", images.max_pixels},
            {"mean", images.mean},
            {"std", images.std},
            {"rescale_factor", images.rescale_factor}}}};
}

}  // namespace platen::glm_ocr
