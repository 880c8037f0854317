// The draft layer as a trainer sees it.

#include <cmath>

#include "model/families/glm_ocr/architecture.h"

namespace platen::glm_ocr {
namespace {

DraftAttention DescribeAttention(const TextConfig& c, DraftShapeBuilder& builder) {
  DraftAttention attention;
  attention.heads = c.num_heads;
  attention.kv_heads = c.num_kv_heads;
  attention.rotary_width = attention.value_width = c.head_dim;
  attention.scale = 1 / std::sqrt(static_cast<double>(c.head_dim));
  attention.adjacent_pairs = true;
  for (int axis = 0; axis < 3; ++axis) {
    attention.axis.insert(attention.axis.end(),
                          static_cast<size_t>(c.mrope_section[static_cast<size_t>(axis)]), axis);
  }
  for (int pair = 0; pair < c.head_dim / 2; ++pair) {
    attention.frequencies.push_back(std::pow(c.rope_theta, -2.0 * pair / c.head_dim));
  }
  const int64_t d = c.hidden_size;
  attention.q = builder.AddMatrix("self_attn.q_proj.weight", c.q_size(), d);
  attention.k = builder.AddMatrix("self_attn.k_proj.weight", c.kv_size(), d);
  attention.v = builder.AddMatrix("self_attn.v_proj.weight", c.kv_size(), d);
  attention.output = builder.AddMatrix("self_attn.o_proj.weight", d, c.q_size());
  return attention;
}

DraftMlp DescribeMlp(const TextConfig& c, DraftShapeBuilder& builder) {
  const int64_t inner = c.intermediate_size;
  const WeightPart both = builder.AddMatrix("mlp.gate_up_proj.weight", 2 * inner, c.hidden_size);
  DraftMlp mlp;
  mlp.gate = {both.tensor, 0, inner};
  mlp.up = {both.tensor, inner, inner};
  mlp.down = builder.AddMatrix("mlp.down_proj.weight", c.hidden_size, inner);
  return mlp;
}

}  // namespace

std::optional<DraftShape> GlmOcr::Draft() const {
  const TextConfig& c = config_.text;
  if (c.num_mtp_layers == 0) return std::nullopt;
  DraftShape shape;
  shape.hidden_size = c.hidden_size;
  shape.norm_eps = static_cast<double>(c.rms_norm_eps);
  DraftShapeBuilder builder(shape,
                            "model.language_model.layers." + std::to_string(c.num_layers) + ".");
  DraftChain chain;
  const int64_t d = c.hidden_size;
  chain.enorm = builder.AddVector("enorm.weight", d);
  chain.hnorm = builder.AddVector("hnorm.weight", d);
  chain.eh_proj = builder.AddMatrix("eh_proj.weight", d, 2 * d);
  chain.input_norm = builder.AddVector("input_layernorm.weight", d);
  chain.attention = DescribeAttention(c, builder);
  chain.attention_branch_norm = builder.AddVector("post_self_attn_layernorm.weight", d);
  chain.mlp_norm = builder.AddVector("post_attention_layernorm.weight", d);
  chain.mlp = DescribeMlp(c, builder);
  chain.mlp_branch_norm = builder.AddVector("post_mlp_layernorm.weight", d);
  chain.head_norm = builder.AddVector("shared_head.norm.weight", d);
  shape.chain = std::move(chain);
  return shape;
}

}  // namespace platen::glm_ocr
