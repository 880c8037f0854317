#include "model/families/glm_ocr/architecture.h"

#include <optional>
#include <utility>

#include "model/families/glm_input/chat_prompt.h"
#include "model/families/glm_input/describe.h"
#include "model/families/glm_input/vision.h"
#include "model/families/glm_ocr/decoder.h"
#include "model/families/glm_ocr/modules.h"
#include "model/families/glm_ocr/mtp.h"
#include "model/families/tied_head.h"
#include "model/support/json_fields.h"

namespace platen::glm_ocr {
namespace {

TextSizes TextSizesOf(const TextConfig& c) {
  TextSizes sizes;
  sizes.config_field = "text_config.";
  sizes.vocab_size = c.vocab_size;
  sizes.hidden_size = c.hidden_size;
  sizes.max_positions = c.max_positions;
  sizes.num_draft_layers = c.num_mtp_layers;
  const CachePlane plane = {c.num_kv_heads, c.head_dim, c.head_dim};
  sizes.cache.planes.assign(static_cast<size_t>(c.num_layers + c.num_mtp_layers), plane);
  sizes.num_target_planes = c.num_layers;
  sizes.attention = {c.num_layers, c.num_heads, c.head_dim, c.head_dim};
  return sizes;
}

}  // namespace

GlmOcr::GlmOcr(Config config, std::string config_path)
    : config_(std::move(config)),
      config_path_(std::move(config_path)),
      text_(TextSizesOf(config_.text)),
      vision_(glm_input::SizesOf(config_.input.vision)) {}

std::string_view GlmOcr::image_placeholder() const { return glm_input::kImagePlaceholder; }

std::string GlmOcr::Settle(const Checkpoint& checkpoint) {
  return SettleTiedHead(checkpoint, "model.language_model.embed_tokens.weight",
                        config_.text.tie_word_embeddings);
}

ModuleTable GlmOcr::Modules() const { return DescribeModules(config_).table; }

std::vector<Error> GlmOcr::CheckTokens(const Tokenizer& tokenizer) const {
  return glm_input::CheckTokens(config_.input.image_tokens, tokenizer, config_path_);
}

PromptInput GlmOcr::BuildPrompt(const Tokenizer& tokenizer, std::span<const PatchGrid> grids,
                                const std::string& text) const {
  return glm_input::BuildPrompt(tokenizer, config_.input.image_tokens, grids, text);
}

// The attention kernels keep a head's vector and a group's queries in fixed buffers.
void GlmOcr::CheckKernelLimits() const {
  const auto check = [&](const char* field, int value, int limit) {
    if (value <= limit) return;
    throw Error(
        ErrorKind::kModel, {.file = config_path_, .field = field},
        "is " + std::to_string(value) + "; this program handles at most " + std::to_string(limit));
  };
  const TextConfig& text = config_.text;
  check("text_config.head_dim", text.head_dim, kMaxHeadDim);
  glm_input::CheckHeadWidth(config_.input.vision, config_path_);
  check("text_config.num_attention_heads / num_key_value_heads", text.num_heads / text.num_kv_heads,
        kMaxQueryGroup);
}

ModelParts GlmOcr::Build(const KernelTable& kernels, VisionAttention attention) const {
  CheckKernelLimits();
  BoundModules modules = DescribeModules(config_);
  const Weights& w = *modules.weights;
  ModelParts parts;
  parts.text = std::make_unique<Decoder>(config_.text, w.text, kernels);
  parts.vision = std::make_unique<glm_input::VisionEncoder>(
      config_.input.vision, config_.input.image_processor, w.vision, kernels, attention);
  if (w.text.mtp) parts.draft = std::make_unique<MtpLayer>(config_.text, *w.text.mtp, kernels);
  parts.modules = std::move(modules.table);
  return parts;
}

std::unique_ptr<Architecture> ReadArchitecture(const std::string& snapshot_dir) {
  return std::make_unique<GlmOcr>(ReadConfig(snapshot_dir),
                                  SnapshotFile(snapshot_dir, "config.json"));
}

}  // namespace platen::glm_ocr
