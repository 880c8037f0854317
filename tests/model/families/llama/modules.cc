#include "tests/model/families/llama/llama.h"

namespace platen::llama {
namespace {

void DescribeLayer(const Config& c, int layer, LayerWeights& w, ModuleTable& table) {
  const int64_t hidden = c.hidden_size;
  const int64_t kv_size = int64_t{c.num_kv_heads} * c.head_dim();
  ModuleScope scope(table, "model.layers." + std::to_string(layer) + ".", "decoder",
                    RowsOf::kToken);
  scope.AddVector(w.input_layernorm, "input_layernorm.weight", hidden);
  scope.AddStacked(
      w.qkv, "self_attn.qkv",
      {{"self_attn.q_proj", hidden}, {"self_attn.k_proj", kv_size}, {"self_attn.v_proj", kv_size}},
      hidden);
  scope.AddLinear(w.o_proj, "self_attn.o_proj", {hidden, hidden});
  scope.AddVector(w.post_attention_layernorm, "post_attention_layernorm.weight", hidden);
  scope
      .AddStacked(w.gate_up, "mlp.gate_up",
                  {{"mlp.gate_proj", c.intermediate_size}, {"mlp.up_proj", c.intermediate_size}},
                  hidden)
      .silu_mul = true;
  scope.AddLinear(w.down, "mlp.down_proj", {hidden, c.intermediate_size});
}

}  // namespace

BoundModules DescribeModules(const Config& c) {
  auto weights = std::make_shared<Weights>();
  ModuleTable table(weights);
  ModuleScope embedding(table, "model.", "embedding", RowsOf::kToken);
  Module& tokens =
      embedding.AddTable(weights->embed_tokens, "embed_tokens.weight", c.vocab_size, c.hidden_size);
  tokens.weights.front().aliases = {"tok_embeddings.weight"};  // as the first checkpoints had it
  weights->layers.resize(static_cast<size_t>(c.num_layers));
  for (int i = 0; i < c.num_layers; ++i) {
    DescribeLayer(c, i, weights->layers[static_cast<size_t>(i)], table);
  }
  ModuleScope last(table, "", "head", RowsOf::kLogits);
  last.AddVector(weights->norm, "model.norm.weight", c.hidden_size);
  last.AddLinear(weights->lm_head, "lm_head", {c.vocab_size, c.hidden_size});
  return {std::move(weights), std::move(table)};
}

}  // namespace platen::llama
