// The draft heads or the draft layer as a trainer sees them. Names are those of the module table.

#include <cmath>

#include "model/families/minillm/architecture.h"
#include "model/families/minillm/modules.h"
#include "model/families/minillm/rotary_config.h"
#include "model/families/minillm/router.h"
#include "model/support/error.h"

namespace platen::minillm {
namespace {

void DescribeRotary(const Config& c, DraftAttention& attention) {
  attention.adjacent_pairs = c.rotary.pairing == Pairing::kAdjacent;
  attention.frequencies = ExactFrequencies(c.rotary, c.rope_width, c.max_positions);
  attention.axis.assign(attention.frequencies.size(), 0);
  attention.rotary_factor = TableFactor(c.rotary);
}

DraftAttention DescribeAttention(const Config& c, DraftShapeBuilder& builder) {
  DraftAttention attention;
  attention.heads = attention.kv_heads = c.num_heads;
  attention.plain_width = c.nope_width;
  attention.rotary_width = c.rope_width;
  attention.value_width = c.value_width;
  attention.scale = ScoreFactor(c.rotary) / std::sqrt(static_cast<double>(c.query_width()));
  DescribeRotary(c, attention);
  const int64_t d = c.hidden_size, heads = c.num_heads;
  const int64_t queries = heads * c.query_width();
  DraftAttention::Latent latent;
  latent.eps = static_cast<double>(c.latent_eps);
  if (c.q_rank > 0) {
    latent.q_a = builder.AddMatrix("self_attn.q_a_proj.weight", c.q_rank, d);
    if (c.attention_bias) latent.q_a_bias = builder.AddVector("self_attn.q_a_proj.bias", c.q_rank);
    latent.q_norm = builder.AddVector("self_attn.q_a_layernorm.weight", c.q_rank);
    attention.q = builder.AddMatrix("self_attn.q_b_proj.weight", queries, c.q_rank);
  } else {
    attention.q = builder.AddMatrix("self_attn.q_proj.weight", queries, d);
    if (c.attention_bias) latent.q_a_bias = builder.AddVector("self_attn.q_proj.bias", queries);
  }
  const int64_t latents = c.kv_rank + c.rope_width;
  latent.kv_a = builder.AddMatrix("self_attn.kv_a_proj_with_mqa.weight", latents, d);
  if (c.attention_bias) {
    latent.kv_a_bias = builder.AddVector("self_attn.kv_a_proj_with_mqa.bias", latents);
  }
  latent.kv_norm = builder.AddVector("self_attn.kv_a_layernorm.weight", c.kv_rank);
  latent.kv_b = builder.AddMatrix("self_attn.kv_b_proj.weight",
                                  heads * (c.nope_width + c.value_width), c.kv_rank);
  attention.output = builder.AddMatrix("self_attn.o_proj.weight", d, heads * c.value_width);
  if (c.attention_bias) latent.output_bias = builder.AddVector("self_attn.o_proj.bias", d);
  attention.latent = std::move(latent);
  return attention;
}

std::vector<int> Choose(const RouterConfig& config, std::span<const float> bias,
                        std::span<const float> logits) {
  Router router(config);
  std::vector<ExpertChoice> chosen;
  router.Choose(logits, bias, chosen);
  std::vector<int> experts;
  for (const ExpertChoice& choice : chosen) experts.push_back(choice.expert);
  return experts;
}

DraftExperts DescribeExperts(const Config& c, DraftShape& shape, DraftShapeBuilder& builder) {
  const RouterConfig& router = c.router;
  DraftExperts experts;
  experts.router = builder.AddMatrix("mlp.gate.weight", router.experts, c.hidden_size);
  if (router.correction_bias) {
    shape.frozen.push_back(builder.AddVector("mlp.gate.e_score_correction_bias", router.experts));
    experts.correction_bias = shape.frozen.back();
  }
  experts.normalise = router.normalise;
  experts.scale = router.scale;
  experts.choose = [router](std::span<const float> logits, std::span<const float> bias) {
    return Choose(router, bias, logits);
  };
  const Activation activation = c.activation;
  if (c.stacked_experts) {
    const int64_t inner = c.expert_size, count = router.experts, d = c.hidden_size;
    const WeightPart up = builder.AddStack("mlp.experts.gate_up_proj", {count, 2 * inner, d});
    const WeightPart down = builder.AddStack("mlp.experts.down_proj", {count, d, inner});
    for (int64_t e = 0; e < count; ++e) {
      experts.experts.push_back({activation,
                                 {up.tensor, 2 * e * inner, inner},
                                 {up.tensor, (2 * e + 1) * inner, inner},
                                 {down.tensor, e * d, d}});
    }
  } else {
    for (int e = 0; e < router.experts; ++e) {
      const std::string name = "mlp.experts." + std::to_string(e) + ".";
      experts.experts.push_back(builder.AddMlp(name, c.expert_size, activation));
    }
  }
  if (c.shared_experts > 0) {
    experts.shared = builder.AddMlp("mlp.shared_experts.",
                                    int64_t{c.shared_experts} * c.expert_size, activation);
  }
  return experts;
}

DraftChain DescribeChain(const Config& c, DraftShape& shape, DraftShapeBuilder& builder) {
  const int64_t d = c.hidden_size;
  DraftChain chain;
  chain.enorm = builder.AddVector("enorm.weight", d);
  chain.hnorm = builder.AddVector("hnorm.weight", d);
  chain.eh_proj = builder.AddMatrix("eh_proj.weight", d, 2 * d);
  chain.input_norm = builder.AddVector("input_layernorm.weight", d);
  chain.attention = DescribeAttention(c, builder);
  chain.mlp_norm = builder.AddVector("post_attention_layernorm.weight", d);
  if (c.mtp_has_experts) {
    chain.experts = DescribeExperts(c, shape, builder);
  } else {
    chain.mlp = builder.AddMlp("mlp.", c.intermediate_size, c.activation);
  }
  chain.head_norm = builder.AddVector("shared_head.norm.weight", d);
  return chain;
}

}  // namespace

std::optional<DraftShape> MiniLlm::Draft() const {
  const Config& c = config_;
  if (c.residual_heads > 0) {
    DraftShape shape = ResidualHeadsShape(c.residual_heads, c.hidden_size, c.residual_head_size,
                                          static_cast<double>(c.norm_eps), c.activation);
    shape.logit_softcap = c.logit_softcap;
    return shape;
  }
  if (c.mtp_layers == 0) return std::nullopt;
  if (c.router.scoring != RouterConfig::Scoring::kSigmoid && c.mtp_has_experts) {
    throw Error(ErrorKind::kModel, {.file = dir_, .field = "mlp.gate"},
                "a draft layer whose router is a softmax cannot be trained");
  }
  DraftShape shape;
  shape.hidden_size = c.hidden_size;
  shape.norm_eps = static_cast<double>(c.norm_eps);
  shape.logit_softcap = c.logit_softcap;
  DraftShapeBuilder builder(shape, Layer(c.num_layers));
  shape.chain = DescribeChain(c, shape, builder);
  return shape;
}

}  // namespace platen::minillm
