#include "model/families/glm_ocr/product_names.h"

#include "model/families/glm_ocr/config.h"

namespace platen {
namespace {

using Names = std::vector<std::string>;

void Add(Names& names, const std::string& prefix, const Names& parts) {
  for (const std::string& part : parts) names.push_back(prefix + part);
}

}  // namespace

Names ProductNames(const ModelConfig& config) {
  const std::string visual = "model.visual.";
  Names names;
  Add(names, visual, {"patch_embed.proj"});
  for (int i = 0; i < config.vision.depth; ++i) {
    Add(names, visual + "blocks." + std::to_string(i) + ".",
        {"attn.qkv", "attn.proj", "mlp.gate_up", "mlp.down_proj"});
  }
  Add(names, visual, {"downsample", "merger.proj", "merger.gate_up", "merger.down_proj"});

  const Names decoder_layer = {"self_attn.qkv", "self_attn.o_proj", "mlp.gate_up_proj",
                               "mlp.down_proj"};
  const auto layer = [](int i) { return "model.language_model.layers." + std::to_string(i) + "."; };
  for (int i = 0; i < config.text.num_layers; ++i) Add(names, layer(i), decoder_layer);
  names.push_back(config.text.tie_word_embeddings ? "model.language_model.embed_tokens"
                                                  : "lm_head");
  if (config.text.num_mtp_layers > 0) {
    Add(names, layer(config.text.num_layers), {"eh_proj"});
    Add(names, layer(config.text.num_layers), decoder_layer);
  }
  return names;
}

}  // namespace platen
