#include "model/families/glm_input/describe.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "model/families/glm_input/chat_prompt.h"
#include "model/kernels/kernels.h"
#include "model/support/grouped.h"
#include "model/support/number_text.h"
#include "model/support/json_fields.h"

namespace platen::glm_input {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(int64_t value) { return std::to_string(value); }

// The token `content` exists in the tokenizer and has the id the config gives it, if any.
void CheckAddedToken(const Tokenizer& tokenizer, const std::string& config_path,
                     const std::string& content, std::optional<TokenId> config_id,
                     const char* config_field, std::vector<Error>& problems) {
  const std::optional<TokenId> id = tokenizer.AddedTokenId(content);
  if (!id) {
    problems.emplace_back(
        ErrorKind::kModel,
        ErrorLocation{.file = SiblingFile(config_path, "tokenizer.json"), .field = "added_tokens"},
        "has no token " + content + ", which the prompt needs");
  } else if (config_id && *id != *config_id) {
    problems.emplace_back(ErrorKind::kModel,
                          ErrorLocation{.file = config_path, .field = config_field},
                          "is " + std::to_string(*config_id) + ", but tokenizer.json gives " +
                              content + " the id " + std::to_string(*id));
  }
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

VisionSizes SizesOf(const VisionConfig& c) {
  return {.patch_size = c.patch_size,
          .patch_values = c.patch_values(),
          .patches_per_token = c.spatial_merge_size * c.spatial_merge_size,
          .attention = {c.depth, c.num_heads, c.head_dim(), c.head_dim()}};
}

std::vector<Error> CheckTokens(const ImageTokens& image, const Tokenizer& tokenizer,
                               const std::string& config_path) {
  std::vector<Error> problems;
  const auto check = [&](std::string_view content, std::optional<TokenId> id, const char* field) {
    CheckAddedToken(tokenizer, config_path, std::string(content), id, field, problems);
  };
  check(kImagePlaceholder, image.image, "image_token_id");
  check("<|begin_of_image|>", image.start, "image_start_token_id");
  check("<|end_of_image|>", image.end, "image_end_token_id");
  for (const std::string_view content : PromptControlTokens()) check(content, std::nullopt, "");
  return problems;
}

void CheckHeadWidth(const VisionConfig& config, const std::string& config_path) {
  if (config.head_dim() <= kMaxHeadDim) return;
  throw Error(ErrorKind::kModel,
              {.file = config_path, .field = "vision_config.hidden_size / num_heads"},
              "is " + std::to_string(config.head_dim()) + "; this program handles at most " +
                  std::to_string(kMaxHeadDim));
}

std::vector<FactSection> Facts(const Config& config) {
  return {VisionFacts(config.vision), ImageFacts(config.image_processor)};
}

std::vector<std::pair<std::string, std::string>> TokenFacts(const ImageTokens& tokens) {
  return {{"image ids", Text(tokens.start) + " " + Text(tokens.image) + " " + Text(tokens.end) +
                            " (begin, image, end)"}};
}

Json VisionJson(const VisionConfig& vision) {
  return {{"depth", vision.depth},           {"hidden_size", vision.hidden_size},
          {"heads", vision.num_heads},       {"intermediate_size", vision.intermediate_size},
          {"patch_size", vision.patch_size}, {"temporal_patch_size", vision.temporal_patch_size},
          {"rope_theta", vision.rope_theta}, {"rms_norm_eps", vision.rms_norm_eps}};
}

Json ImageProcessorJson(const ImageProcessorConfig& images) {
  return {{"min_pixels", images.min_pixels},
          {"max_pixels", images.max_pixels},
          {"mean", images.mean},
          {"std", images.std},
          {"rescale_factor", images.rescale_factor}};
}

}  // namespace platen::glm_input
