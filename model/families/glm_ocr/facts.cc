// What `platen inspect` says of a GLM-OCR config.
#include <nlohmann/json.hpp>

#include "model/families/glm_input/describe.h"
#include "model/families/glm_ocr/architecture.h"
#include "model/support/grouped.h"
#include "model/support/number_text.h"

namespace platen::glm_ocr {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

std::vector<FactSection> GlmOcr::Facts() const {
  std::vector<FactSection> facts = {TextFacts(config_.text, text_.cache.values_per_token())};
  for (FactSection& section : glm_input::Facts(config_.input)) facts.push_back(std::move(section));
  return facts;
}

std::vector<std::pair<std::string, std::string>> GlmOcr::TokenFacts() const {
  return glm_input::TokenFacts(config_.input.image_tokens);
}

Json GlmOcr::ConfigJson() const {
  const TextConfig& text = config_.text;
  const glm_input::ImageTokens& image = config_.input.image_tokens;
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
          {"vision", glm_input::VisionJson(config_.input.vision)},
          {"tokens",
           {{"image", image.image},
            {"image_start", image.start},
            {"image_end", image.end},
            {"stop", config_.tokens.stop},
            {"pad", config_.tokens.pad}}},
          {"image_processor", glm_input::ImageProcessorJson(config_.input.image_processor)}};
}

}  // namespace platen::glm_ocr
