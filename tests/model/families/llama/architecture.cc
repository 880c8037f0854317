#include <nlohmann/json.hpp>

#include "tests/model/families/llama/llama.h"

namespace platen::llama {

Llama::Llama(Config config) : config_(std::move(config)) {
  const Config& c = config_;
  text_.vocab_size = c.vocab_size;
  text_.hidden_size = c.hidden_size;
  text_.max_positions = c.max_positions;
  text_.cache.planes.assign(static_cast<size_t>(c.num_layers),
                            {c.num_kv_heads, c.head_dim(), c.head_dim()});
  text_.num_target_planes = c.num_layers;
  text_.attention = {c.num_layers, c.num_heads, c.head_dim(), c.head_dim()};
}

PromptInput Llama::BuildPrompt(const Tokenizer& tokenizer, std::span<const PatchGrid> grids,
                               const std::string& text) const {
  if (!grids.empty()) throw Error(ErrorKind::kInput, {}, "this model reads text only");
  PromptInput prompt;
  prompt.text = text;
  prompt.input_ids = tokenizer.Encode(text);
  for (auto& axis : prompt.positions) {
    for (size_t i = 0; i < prompt.input_ids.size(); ++i) axis.push_back(static_cast<int32_t>(i));
  }
  return prompt;
}

ModelParts Llama::Build(const KernelTable& kernels, VisionAttention) const {
  BoundModules modules = DescribeModules(config_);
  ModelParts parts;
  parts.text = std::make_unique<Decoder>(config_, *modules.weights, kernels);
  parts.modules = std::move(modules.table);
  return parts;
}

std::vector<FactSection> Llama::Facts() const {
  return {{"text model", {{"layers", std::to_string(config_.num_layers)}}}};
}

nlohmann::ordered_json Llama::ConfigJson() const { return {{"layers", config_.num_layers}}; }

const FamilyRegistry& Families() {
  static const FamilyRegistry families = [] {
    FamilyRegistry all = FamilyRegistry::BuiltIn();
    all.Add("llama", "Llama",
            [](const std::string& dir) { return std::make_unique<Llama>(ReadConfig(dir)); });
    return all;
  }();
  return families;
}

}  // namespace platen::llama
