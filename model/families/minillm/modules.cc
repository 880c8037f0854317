#include "model/families/minillm/modules.h"

#include <utility>

namespace platen::minillm {
namespace {

// A tensor's name in the two styles, below the layer's prefix.
struct TwoNames {
  const char* mini;
  const char* transformers;
};
constexpr TwoNames kQNorm = {"self_attn.q_a_norm", "self_attn.q_a_layernorm"};
constexpr TwoNames kKvNorm = {"self_attn.kv_a_norm", "self_attn.kv_a_layernorm"};
constexpr TwoNames kKvA = {"self_attn.kv_a_proj", "self_attn.kv_a_proj_with_mqa"};
constexpr TwoNames kShared = {"mlp.shared_expert", "mlp.shared_experts"};

// Adds the modules of one layer.
class LayerScope {
 public:
  LayerScope(const Config& config, ModuleTable& table, std::string prefix,
             const std::string& section, RowsOf rows_of)
      : c_(config),
        table_(table),
        prefix_(std::move(prefix)),
        scope_(table, prefix_, section, rows_of) {}

  void AddVector(std::vector<float>& member, const std::string& name, int64_t size) {
    scope_.AddVector(member, name, size);
  }
  void AddLinear(Linear& member, const std::string& name, int64_t rows, int64_t columns) {
    scope_.AddLinear(member, name, {rows, columns});
  }

  void AddLayer(LayerWeights& w, bool experts) {
    AddVector(w.input_norm, "input_layernorm.weight", c_.hidden_size);
    AddAttention(w.attention);
    AddIndex(w.index);
    AddVector(w.post_attention_norm, "post_attention_layernorm.weight", c_.hidden_size);
    if (experts) {
      AddExperts(w.experts.emplace());
    } else {
      AddMlp(w.mlp.emplace(), "mlp", c_.intermediate_size);
    }
  }

  // NAME.gate_proj and NAME.up_proj as one linear.
  Module& AddGateUp(MlpWeights& w, const std::string& name, int64_t inner) {
    Module& module = scope_.AddStacked(w.gate_up, name + ".gate_up_proj",
                                       {{name + ".gate_proj", inner}, {name + ".up_proj", inner}},
                                       c_.hidden_size);
    module.silu_mul = c_.activation == Activation::kSilu;
    return module;
  }
  void AddMlp(MlpWeights& w, const std::string& name, int64_t inner) {
    AddGateUp(w, name, inner);
    AddLinear(w.down, name + ".down_proj", c_.hidden_size, inner);
  }

 private:
  bool mini() const { return c_.form == Form::kMiniLlm; }
  const char* Own(const TwoNames& names) const { return mini() ? names.mini : names.transformers; }
  const char* Other(const TwoNames& names) const {
    return mini() ? names.transformers : names.mini;
  }

  void AddNorm(std::vector<float>& member, const TwoNames& names, int64_t size) {
    scope_.AddVector(member, std::string(Own(names)) + ".weight", size).weights.front().aliases = {
        prefix_ + Other(names) + ".weight"};
  }

  void AddAttention(AttentionWeights& w) {
    const int64_t hidden = c_.hidden_size;
    const int64_t queries = int64_t{c_.num_heads} * c_.query_width();
    const auto bias = c_.attention_bias ? ModuleScope::Bias::kStored : ModuleScope::Bias::kNone;
    const bool bottleneck = c_.q_rank > 0;
    Module& input = scope_.AddStacked(
        w.input, "self_attn.input_proj",
        {{bottleneck ? "self_attn.q_a_proj" : "self_attn.q_proj", bottleneck ? c_.q_rank : queries},
         {Own(kKvA), c_.kv_rank + c_.rope_width}},
        hidden, bias);
    input.weights.back().aliases = {prefix_ + Other(kKvA) + ".weight"};
    if (c_.attention_bias) input.biases.back().aliases = {prefix_ + Other(kKvA) + ".bias"};
    if (bottleneck) {
      AddNorm(w.q_norm, kQNorm, c_.q_rank);
      AddLinear(w.q_b, "self_attn.q_b_proj", queries, c_.q_rank);
    }
    AddNorm(w.kv_norm, kKvNorm, c_.kv_rank);
    AddHeads(w);
    scope_.AddLinear(w.output, "self_attn.o_proj", {hidden, int64_t{c_.num_heads} * c_.value_width},
                     bias);
  }

  // Head h owns rows h (Dn + Dv) .. of kv_b_proj: first its key part, then its value part.
  void AddHeads(AttentionWeights& w) {
    const int64_t rows = c_.nope_width + c_.value_width;
    const std::vector<int64_t> shape = {c_.num_heads * rows, c_.kv_rank};
    w.absorb.resize(static_cast<size_t>(c_.num_heads));
    w.expand.resize(static_cast<size_t>(c_.num_heads));
    const std::string name = "self_attn.kv_b_proj";
    // In the order in which they are multiplied.
    for (int h = 0; h < c_.num_heads; ++h) {
      scope_.AddPart(w.absorb[static_cast<size_t>(h)], name + ".key." + std::to_string(h),
                     name + ".weight", shape, {h * rows, c_.nope_width, /*transposed=*/true});
    }
    for (int h = 0; h < c_.num_heads; ++h) {
      scope_.AddPart(w.expand[static_cast<size_t>(h)], name + ".value." + std::to_string(h),
                     name + ".weight", shape, {h * rows + c_.nope_width, c_.value_width});
    }
  }

  void AddIndex(std::optional<IndexWeights>& weights) {
    using Kind = IndexConfig::Kind;
    const int64_t width = c_.index.width, heads = c_.index.heads, hidden = c_.hidden_size;
    if (c_.index.kind == Kind::kLightning) {
      IndexWeights& w = weights.emplace();
      AddLinear(w.queries, "self_attn.indexer.wq_b", heads * width, c_.q_rank);
      AddLinear(w.keys, "self_attn.indexer.wk", width, hidden);
      AddVector(w.key_norm, "self_attn.indexer.k_norm.weight", width);
      AddVector(w.key_norm_bias, "self_attn.indexer.k_norm.bias", width);
      AddLinear(w.head_weights, "self_attn.indexer.weights_proj", heads, hidden);
    } else if (c_.index.kind == Kind::kMean) {
      IndexWeights& w = weights.emplace();
      AddLinear(w.queries, "self_attn.indexer.q_proj", heads * width, hidden);
      AddLinear(w.keys, "self_attn.indexer.k_proj", heads * width, hidden);
    } else if (c_.has_index_tensors) {
      for (const char* name : {"self_attn.indexer.q_proj", "self_attn.indexer.k_proj"}) {
        table_.AddCopy({{prefix_ + name + ".weight", {heads * width, hidden}}, "unused", "", ""});
      }
    }
  }

  void AddExperts(ExpertsWeights& w) {
    const int experts = c_.router.experts;
    scope_.AddLinear(w.router, "mlp.gate", {experts, c_.hidden_size}).full_precision = true;
    if (c_.router.correction_bias) {
      scope_.AddVector(w.correction_bias, "mlp.gate.e_score_correction_bias", experts);
    }
    w.experts.resize(static_cast<size_t>(experts));
    for (int e = 0; e < experts; ++e) AddExpert(w.experts[static_cast<size_t>(e)], e);
    // A loss of training that MiniLLM's code saves with the weights.
    if (mini()) table_.AddCopy({{prefix_ + "mlp.aux_loss", {}}, "unused", "", ""});
    if (c_.shared_experts > 0) AddShared(w.shared.emplace());
  }

  void AddExpert(MlpWeights& w, int e) {
    const std::string name = "mlp.experts." + std::to_string(e);
    const double share = static_cast<double>(c_.router.per_token) / c_.router.experts;
    if (!c_.stacked_experts) {
      AddGateUp(w, name, c_.expert_size).share_of_rows = share;
      scope_.AddLinear(w.down, name + ".down_proj", {c_.hidden_size, c_.expert_size})
          .share_of_rows = share;
      return;
    }
    const int64_t experts = c_.router.experts, hidden = c_.hidden_size, inner = c_.expert_size;
    Module& gate_up = scope_.AddPart(w.gate_up, name + ".gate_up_proj", "mlp.experts.gate_up_proj",
                                     {experts, 2 * inner, hidden}, {e * 2 * inner, 2 * inner});
    gate_up.silu_mul = c_.activation == Activation::kSilu;
    gate_up.share_of_rows = share;
    scope_
        .AddPart(w.down, name + ".down_proj", "mlp.experts.down_proj", {experts, hidden, inner},
                 {e * hidden, hidden})
        .share_of_rows = share;
  }

  void AddShared(MlpWeights& w) {
    const int64_t inner = int64_t{c_.shared_experts} * c_.expert_size;
    const std::string name = Own(kShared), other = prefix_ + Other(kShared);
    Module& gate_up = AddGateUp(w, name, inner);
    gate_up.weights.front().aliases = {other + ".gate_proj.weight"};
    gate_up.weights.back().aliases = {other + ".up_proj.weight"};
    scope_.AddLinear(w.down, name + ".down_proj", {c_.hidden_size, inner}).weights.front().aliases =
        {other + ".down_proj.weight"};
  }

  const Config& c_;
  ModuleTable& table_;
  std::string prefix_;
  ModuleScope scope_;
};

std::string LayerPrefix(const std::string& prefix, int layer) {
  return prefix + "layers." + std::to_string(layer) + ".";
}

void DescribeEnds(const Config& c, const std::string& prefix, int positions, Weights& w,
                  ModuleTable& table) {
  ModuleScope embedding(table, prefix, "embedding", RowsOf::kToken);
  embedding.AddTable(w.embed_tokens, "embed_tokens.weight", c.vocab_size, c.hidden_size);
  if (c.rotary.tables_in_file) {
    embedding.AddTable(w.cosines, "freqs_cos", positions, c.rope_width);
    embedding.AddTable(w.sines, "freqs_sin", positions, c.rope_width);
  }
  ModuleScope head(table, "", "head", RowsOf::kLogits);
  const std::vector<int64_t> shape = {c.vocab_size, c.hidden_size};
  if (c.tie_word_embeddings) {
    head.AddLinear(w.lm_head, prefix + "embed_tokens", shape);
    table.AddCopy({{"lm_head.weight", shape}, "head", "", ""});
  } else {
    head.AddLinear(w.lm_head, "lm_head", shape);
  }
}

ResidualHeadsConfig HeadsOf(const Config& c) {
  return {c.residual_heads, c.hidden_size, c.residual_head_size, c.norm_eps, c.activation};
}

void DescribeMtp(const Config& c, const std::string& prefix, Weights& w, ModuleTable& table) {
  const std::string layer = LayerPrefix(prefix, c.num_layers);
  const int64_t d = c.hidden_size;
  MtpWeights& mtp = w.mtp.emplace();
  LayerScope scope(c, table, layer, "mtp", RowsOf::kDraft);
  scope.AddLayer(mtp.layer, c.mtp_has_experts);
  scope.AddVector(mtp.enorm, "enorm.weight", d);
  scope.AddVector(mtp.hnorm, "hnorm.weight", d);
  scope.AddLinear(mtp.eh_proj, "eh_proj", d, 2 * d);
  scope.AddVector(mtp.head_norm, "shared_head.norm.weight", d);
  const std::vector<int64_t> shape = {c.vocab_size, d};
  const std::string embedding = prefix + "embed_tokens.weight";
  table.AddCopy({{layer + "embed_tokens.weight", shape}, "mtp", embedding, "embedding"});
  table.AddCopy({{layer + "shared_head.head.weight", shape},
                 "mtp",
                 c.tie_word_embeddings ? embedding : "lm_head.weight",
                 "head"});
}

}  // namespace

std::string PrefixOf(const Config& config) {
  return config.images ? "model.language_model." : "model.";
}

BoundModules DescribeModules(const Config& config, int positions) {
  const std::string prefix = PrefixOf(config);
  auto weights = std::make_shared<Weights>();
  ModuleTable table(weights);
  DescribeEnds(config, prefix, positions, *weights, table);
  weights->layers.resize(static_cast<size_t>(config.num_layers));
  for (int i = 0; i < config.num_layers; ++i) {
    LayerScope scope(config, table, LayerPrefix(prefix, i), "decoder", RowsOf::kToken);
    scope.AddLayer(weights->layers[static_cast<size_t>(i)], config.HasExperts(i));
  }
  ModuleScope last(table, prefix, "decoder", RowsOf::kToken);
  last.AddVector(weights->norm, "norm.weight", config.hidden_size);
  if (config.residual_heads > 0) DescribeResidualHeads(HeadsOf(config), weights->heads, table);
  if (config.mtp_layers > 0) DescribeMtp(config, prefix, *weights, table);
  if (config.images) glm_input::DescribeVision(config.images->vision, weights->vision, table);
  return {std::move(weights), std::move(table)};
}

}  // namespace platen::minillm
