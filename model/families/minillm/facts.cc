// What `platen inspect` says of a config of this family.
#include <nlohmann/json.hpp>

#include "model/families/glm_input/describe.h"
#include "model/families/minillm/architecture.h"
#include "model/support/grouped.h"
#include "model/support/number_text.h"

namespace platen::minillm {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(int64_t value) { return std::to_string(value); }

const char* FormName(Form form) {
  switch (form) {
    case Form::kMiniLlm:
      return "MiniLLM";
    case Form::kDeepSeekV3:
      return "DeepSeek-V3";
    case Form::kDeepSeekV32:
      return "DeepSeek-V3.2";
  }
  return "";
}

std::string RotaryText(const RotaryConfig& rotary) {
  std::string text = "theta " + NumberText(rotary.theta);
  text += rotary.pairing == Pairing::kHalves ? ", halves" : ", adjacent pairs";
  if (rotary.tables_in_file) return text + ", tables of the checkpoint";
  if (rotary.scaling == RotaryConfig::Scaling::kLinear) {
    text += ", divided by " + NumberText(rotary.factor);
  }
  if (rotary.scaling == RotaryConfig::Scaling::kYarn) {
    text += ", YaRN by " + NumberText(rotary.factor) + " from " +
            Grouped(rotary.original_positions) + " positions";
  }
  return text;
}

std::string ExpertsText(const Config& c) {
  const RouterConfig& r = c.router;
  if (r.experts == 0) return "none";
  int layers = 0;
  for (int i = 0; i < c.num_layers; ++i) layers += c.HasExperts(i) ? 1 : 0;
  std::string text = Text(r.per_token) + " of " + Text(r.experts) + ", " + Text(c.expert_size) +
                     " wide, in " + Text(layers) + " layers";
  if (c.shared_experts > 0) text += ", " + Text(c.shared_experts) + " shared";
  if (r.groups > 1) text += ", " + Text(r.kept_groups) + " of " + Text(r.groups) + " groups";
  return text + (r.scoring == RouterConfig::Scoring::kSoftmax ? ", softmax" : ", sigmoid");
}

std::string DraftText(const Config& c) {
  if (c.residual_heads > 0) return Text(c.residual_heads) + " residual heads";
  if (c.mtp_layers > 0) return "a layer that is chained";
  return "none";
}

}  // namespace

std::vector<FactSection> MiniLlm::Facts() const {
  const Config& c = config_;
  const int64_t cached = text_.cache.values_per_token();
  const std::string query = c.q_rank > 0 ? Text(c.q_rank) : "no";
  std::vector<FactSection> facts = {
      {"text model",
       {{"form", FormName(c.form)},
        {"layers", Text(c.num_layers)},
        {"hidden size", Text(c.hidden_size)},
        {"feed-forward size", Text(c.intermediate_size)},
        {"experts", ExpertsText(c)},
        {"heads", Text(c.num_heads) + ", keys " + Text(c.nope_width) + " + " + Text(c.rope_width) +
                      " wide, values " + Text(c.value_width)},
        {"latent", Text(c.kv_rank) + " wide, query bottleneck " + query},
        {"vocabulary", Text(c.vocab_size)},
        {"positions", Text(text_.max_positions)},
        {"rope", RotaryText(c.rotary)},
        {"norm epsilon", NumberText(c.norm_eps)},
        {"head", c.tie_word_embeddings ? "tied to the embedding" : "its own table"},
        {"drafts", DraftText(c)},
        {"cache per token",
         Grouped(2 * cached) + " bytes in bf16, " + Grouped(4 * cached) + " in f32"}}}};
  if (c.images) {
    for (FactSection& section : glm_input::Facts(*c.images)) facts.push_back(std::move(section));
  }
  return facts;
}

std::vector<std::pair<std::string, std::string>> MiniLlm::TokenFacts() const {
  if (!config_.images) return {};
  return glm_input::TokenFacts(config_.images->image_tokens);
}

nlohmann::ordered_json MiniLlm::ConfigJson() const {
  const Config& c = config_;
  Json json = {{"form", FormName(c.form)},
               {"layers", c.num_layers},
               {"hidden_size", c.hidden_size},
               {"intermediate_size", c.intermediate_size},
               {"heads", c.num_heads},
               {"query_rank", c.q_rank},
               {"latent_rank", c.kv_rank},
               {"nope_width", c.nope_width},
               {"rope_width", c.rope_width},
               {"value_width", c.value_width},
               {"experts", c.router.experts},
               {"experts_per_token", c.router.per_token},
               {"shared_experts", c.shared_experts},
               {"vocabulary", c.vocab_size},
               {"positions", text_.max_positions},
               {"tied_head", c.tie_word_embeddings},
               {"residual_heads", c.residual_heads},
               {"draft_layers", c.mtp_layers}};
  if (c.images) {
    json["vision"] = glm_input::VisionJson(c.images->vision);
    json["image_processor"] = glm_input::ImageProcessorJson(c.images->image_processor);
  }
  return json;
}

}  // namespace platen::minillm
