#include "model/families/glm_ocr/modules.h"

#include <string>

namespace platen::glm_ocr {
namespace {

using Bias = ModuleScope::Bias;

constexpr char kLanguage[] = "model.language_model.";
constexpr char kVisual[] = "model.visual.";

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

void DescribeBlock(const VisionConfig& c, VisionBlockWeights& w, ModuleScope& scope) {
  const int64_t width = c.hidden_size;
  const int64_t inner = c.intermediate_size;
  scope.AddVector(w.norm1, "norm1.weight", width);
  scope.AddVector(w.norm2, "norm2.weight", width);
  scope.AddLinear(w.qkv, "attn.qkv", {3 * width, width}, Bias::kStored);
  scope.AddVector(w.q_norm, "attn.q_norm.weight", c.head_dim());
  scope.AddVector(w.k_norm, "attn.k_norm.weight", c.head_dim());
  scope.AddLinear(w.proj, "attn.proj", {width, width}, Bias::kStored);
  scope
      .AddStacked(w.gate_up, "mlp.gate_up", {{"mlp.gate_proj", inner}, {"mlp.up_proj", inner}},
                  width, Bias::kStored)
      .silu_mul = true;
  scope.AddLinear(w.down, "mlp.down_proj", {width, inner}, Bias::kStored);
}

void DescribeMerger(const VisionConfig& c, VisionWeights& w, ModuleTable& table) {
  const int64_t out = c.out_hidden_size;
  const int64_t inner = c.merger_intermediate_size();
  ModuleScope downsample(table, kVisual, "merger", RowsOf::kImageToken);
  // The 2x2 convolution [D, C, 2, 2] as a matrix [D, 4C] over four concatenated patch rows:
  // column (2 dy + dx) C + c  <-  weight[d][c][dy][dx].
  downsample
      .AddLinear(w.downsample, "downsample",
                 {out, c.hidden_size, c.spatial_merge_size, c.spatial_merge_size}, Bias::kStored)
      .taps = int64_t{c.spatial_merge_size} * c.spatial_merge_size;
  ModuleScope scope(table, std::string(kVisual) + "merger.", "merger", RowsOf::kImageToken);
  scope.AddLinear(w.merger_proj, "proj", {out, out});
  scope.AddVector(w.merger_norm, "post_projection_norm.weight", out);
  scope.AddVector(w.merger_norm_bias, "post_projection_norm.bias", out);
  scope.AddStacked(w.merger_gate_up, "gate_up", {{"gate_proj", inner}, {"up_proj", inner}}, out)
      .silu_mul = true;
  scope.AddLinear(w.merger_down, "down_proj", {out, inner});
}

void DescribeVision(const VisionConfig& c, VisionWeights& w, ModuleTable& table) {
  ModuleScope first(table, kVisual, "vision", RowsOf::kPatch);
  first.AddLinear(w.patch_embed, "patch_embed.proj",
                  {c.hidden_size, c.in_channels, c.temporal_patch_size, c.patch_size, c.patch_size},
                  Bias::kStored);
  w.blocks.resize(static_cast<size_t>(c.depth));
  for (int i = 0; i < c.depth; ++i) {
    ModuleScope scope(table, std::string(kVisual) + "blocks." + std::to_string(i) + ".", "vision",
                      RowsOf::kPatch);
    DescribeBlock(c, w.blocks[static_cast<size_t>(i)], scope);
  }
  ModuleScope last(table, kVisual, "vision", RowsOf::kPatch);
  last.AddVector(w.post_layernorm, "post_layernorm.weight", c.hidden_size);
  DescribeMerger(c, w, table);
}

}  // namespace

BoundModules DescribeModules(const Config& config) {
  auto weights = std::make_shared<Weights>();
  ModuleTable table(weights);
  DescribeText(config.text, weights->text, table);
  DescribeVision(config.vision, weights->vision, table);
  return {std::move(weights), std::move(table)};
}

}  // namespace platen::glm_ocr
