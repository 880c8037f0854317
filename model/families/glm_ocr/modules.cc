#include "model/families/glm_ocr/modules.h"

#include <string>

namespace platen::glm_ocr {
namespace {

constexpr char kLanguage[] = "model.language_model.";

std::string LayerPrefix(int layer) {
  return std::string(kLanguage) + "layers." + std::to_string(layer) + ".";
}

void DescribeDecoderLayer(const TextConfig& c, DecoderLayerWeights& w, ModuleScope& scope) {
  const int64_t d = c.hidden_size;
  scope.AddVector(w.input_layernorm, "input_layernorm.weight", d);
  scope.AddVector(w.post_self_attn_layernorm, "post_self_attn_layernorm.weight", d);
  scope.AddVector(w.post_attention_layernorm, "post_attention_layernorm.weight", d);
  scope.AddVector(w.post_mlp_layernorm, "post_mlp_layernorm.weight", d);
  // q_proj, k_proj and v_proj share their input: one linear computes all three.
  scope.AddStacked(w.qkv, "self_attn.qkv",
                   {{"self_attn.q_proj", c.q_size()},
                    {"self_attn.k_proj", c.kv_size()},
                    {"self_attn.v_proj", c.kv_size()}},
                   d);
  scope.AddLinear(w.o_proj, "self_attn.o_proj", {d, c.q_size()});
  // The first half of the rows is the gate, the second half the up projection.
  scope.AddLinear(w.gate_up, "mlp.gate_up_proj", {2 * int64_t{c.intermediate_size}, d}).silu_mul =
      true;
  scope.AddLinear(w.down, "mlp.down_proj", {d, c.intermediate_size});
}

void DescribeMtp(const TextConfig& c, MtpWeights& w, ModuleTable& table) {
  const std::string prefix = LayerPrefix(c.num_layers);
  const int64_t d = c.hidden_size;
  ModuleScope scope(table, prefix, "mtp", RowsOf::kDraft);
  DescribeDecoderLayer(c, w.layer, scope);
  scope.AddVector(w.enorm, "enorm.weight", d);
  scope.AddVector(w.hnorm, "hnorm.weight", d);
  scope.AddLinear(w.eh_proj, "eh_proj", {d, 2 * d});
  scope.AddVector(w.shared_head_norm, "shared_head.norm.weight", d);
  const std::vector<int64_t> shape = {c.vocab_size, d};
  table.AddCopy({{prefix + "embed_tokens.weight", shape},
                 "mtp",
                 std::string(kLanguage) + "embed_tokens.weight",
                 "embedding"});
  table.AddCopy(
      {{prefix + "shared_head.head.weight", shape},
       "mtp",
       c.tie_word_embeddings ? std::string(kLanguage) + "embed_tokens.weight" : "lm_head.weight",
       "head"});
}

void DescribeText(const TextConfig& c, TextWeights& w, ModuleTable& table) {
  ModuleScope embedding(table, kLanguage, "embedding", RowsOf::kToken);
  embedding.AddTable(w.embed_tokens, "embed_tokens.weight", c.vocab_size, c.hidden_size);
  ModuleScope head(table, "", "head", RowsOf::kLogits);
  const std::vector<int64_t> shape = {c.vocab_size, c.hidden_size};
  if (c.tie_word_embeddings) {
    head.AddLinear(w.lm_head, std::string(kLanguage) + "embed_tokens", shape);
    table.AddCopy({{"lm_head.weight", shape}, "head", "", ""});
  } else {
    head.AddLinear(w.lm_head, "lm_head", shape);
  }
  w.layers.resize(static_cast<size_t>(c.num_layers));
  for (int i = 0; i < c.num_layers; ++i) {
    ModuleScope scope(table, LayerPrefix(i), "decoder", RowsOf::kToken);
    DescribeDecoderLayer(c, w.layers[static_cast<size_t>(i)], scope);
  }
  ModuleScope last(table, kLanguage, "decoder", RowsOf::kToken);
  last.AddVector(w.norm, "norm.weight", c.hidden_size);
  if (c.num_mtp_layers > 0) DescribeMtp(c, w.mtp.emplace(), table);
}

}  // namespace

BoundModules DescribeModules(const Config& config) {
  auto weights = std::make_shared<Weights>();
  ModuleTable table(weights);
  DescribeText(config.text, weights->text, table);
  glm_input::DescribeVision(config.input.vision, weights->vision, table);
  return {std::move(weights), std::move(table)};
}

}  // namespace platen::glm_ocr
