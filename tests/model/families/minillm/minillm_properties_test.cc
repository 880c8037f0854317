// The suite of every family, on both forms: MiniLLM with ChatML, DeepSeek-V3 with its draft layer.
#include <string>

#include "tests/support/family_properties.h"
#include "tests/support/random_snapshot.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {
namespace {

std::unique_ptr<Snapshot> LoadChat() {
  return std::make_unique<Snapshot>(LoadSnapshot(SourcePath("tests/golden/minillm/mini-chat")));
}

// A random model of a config; lives as long as the process. The checkpoint settles some things, so
// the modules are those of a config in which nothing is left open.
std::string RandomSnapshot(const nlohmann::json& config, uint64_t seed) {
  static std::map<std::string, std::unique_ptr<TempFolder>> folders;
  auto& folder = folders[config.dump()];
  if (folder) return folder->path();
  folder = std::make_unique<TempFolder>();
  folder->Write("config.json", config.dump());
  folder->Write("tokenizer.json",
                ReadFile(SourcePath("tests/golden/snapshots/tiny-a/tokenizer.json")));
  std::mt19937_64 rng(seed);
  WriteRandomWeights(folder->path(), FamilyRegistry::BuiltIn().Read(folder->path())->Modules(),
                     rng);
  return folder->path();
}

// A query bottleneck, groups of experts, adjacent pairs, a dense first layer, a draft layer.
std::unique_ptr<Snapshot> LoadDeepSeek() {
  const nlohmann::json config = {{"model_type", "deepseek_v3"},
                                 {"vocab_size", 912},
                                 {"hidden_size", 60},
                                 {"intermediate_size", 76},
                                 {"num_hidden_layers", 3},
                                 {"num_attention_heads", 6},
                                 {"max_position_embeddings", 512},
                                 {"rms_norm_eps", 1e-5},
                                 {"q_lora_rank", 24},
                                 {"kv_lora_rank", 20},
                                 {"qk_nope_head_dim", 12},
                                 {"qk_rope_head_dim", 8},
                                 {"v_head_dim", 10},
                                 {"n_routed_experts", 8},
                                 {"num_experts_per_tok", 3},
                                 {"n_shared_experts", 1},
                                 {"n_group", 4},
                                 {"topk_group", 2},
                                 {"moe_intermediate_size", 20},
                                 {"first_k_dense_replace", 1},
                                 {"norm_topk_prob", true},
                                 {"routed_scaling_factor", 2.5},
                                 {"num_nextn_predict_layers", 1},
                                 {"eos_token_id", {873, 880}}};
  return std::make_unique<Snapshot>(LoadSnapshot(RandomSnapshot(config, 21)));
}

// The lightning index: rows of prompt, decoding and verification keep the same few keys.
std::unique_ptr<Snapshot> LoadIndexed() {
  const nlohmann::json config = {{"model_type", "deepseek_v32"},
                                 {"vocab_size", 912},
                                 {"hidden_size", 60},
                                 {"intermediate_size", 76},
                                 {"num_hidden_layers", 2},
                                 {"num_attention_heads", 3},
                                 {"max_position_embeddings", 512},
                                 {"q_lora_rank", 24},
                                 {"kv_lora_rank", 20},
                                 {"qk_nope_head_dim", 12},
                                 {"qk_rope_head_dim", 8},
                                 {"v_head_dim", 10},
                                 {"n_routed_experts", 4},
                                 {"num_experts_per_tok", 2},
                                 {"n_shared_experts", 1},
                                 {"n_group", 1},
                                 {"topk_group", 1},
                                 {"moe_intermediate_size", 20},
                                 {"first_k_dense_replace", 1},
                                 {"routed_scaling_factor", 1.0},
                                 {"index_n_heads", 2},
                                 {"index_head_dim", 16},
                                 {"index_topk", 5},
                                 {"eos_token_id", {873, 880}}};
  return std::make_unique<Snapshot>(LoadSnapshot(RandomSnapshot(config, 24)));
}

// No bottleneck, an odd latent, relu2, scaled branches, capped logits, no experts.
std::unique_ptr<Snapshot> LoadPlain() {
  const nlohmann::json config = {{"model_type", "minillm"},
                                 {"vocab_size", 912},
                                 {"hidden_size", 48},
                                 {"num_hidden_layers", 2},
                                 {"num_attention_heads", 3},
                                 {"max_position_embeddings", 512},
                                 {"q_lora_rank", nullptr},
                                 {"kv_lora_rank", 19},
                                 {"qk_nope_head_dim", 12},
                                 {"qk_rope_head_dim", 8},
                                 {"v_head_dim", 10},
                                 {"hidden_act", "relu2"},
                                 {"residual_scale", 0.8},
                                 {"residual_decay", 0.1},
                                 {"logit_softcap", 5.0},
                                 {"num_nextn_predict_layers", 0},
                                 {"tie_word_embeddings", true},
                                 {"eos_token_id", {873, 880}}};
  return std::make_unique<Snapshot>(LoadSnapshot(RandomSnapshot(config, 22)));
}

// Experts in every layer, softmax, three residual heads.
std::unique_ptr<Snapshot> LoadHeads() {
  const nlohmann::json config = {{"model_type", "minillm"},
                                 {"vocab_size", 912},
                                 {"hidden_size", 48},
                                 {"num_hidden_layers", 2},
                                 {"num_attention_heads", 3},
                                 {"max_position_embeddings", 512},
                                 {"q_lora_rank", 24},
                                 {"kv_lora_rank", 20},
                                 {"qk_nope_head_dim", 12},
                                 {"qk_rope_head_dim", 8},
                                 {"v_head_dim", 10},
                                 {"use_moe", true},
                                 {"n_routed_experts", 4},
                                 {"n_shared_experts", 1},
                                 {"moe_intermediate_size", 20},
                                 {"intermediate_size", 56},
                                 {"mtp_intermediate_size", 40},
                                 {"num_nextn_predict_layers", 3},
                                 {"eos_token_id", {873, 880}}};
  return std::make_unique<Snapshot>(LoadSnapshot(RandomSnapshot(config, 23)));
}

std::vector<Request> Requests(const Model&) {
  std::vector<Request> requests;
  for (const char* text : {"A", "Once upon a time there was a printer", "12 + 13 =",
                           "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do",
                           "one two three four five six seven eight nine ten eleven twelve"}) {
    requests.emplace_back().task_text = text;
  }
  return requests;
}

INSTANTIATE_TEST_SUITE_P(
    MiniLlm, FamilyProperties,
    ::testing::Values(FamilyCase{"chat", Precision::kF32, LoadChat, Requests},
                      FamilyCase{"chat", Precision::kInt8, LoadChat, Requests},
                      FamilyCase{"deepseek", Precision::kF32, LoadDeepSeek, Requests},
                      FamilyCase{"deepseek", Precision::kInt8, LoadDeepSeek, Requests},
                      FamilyCase{"indexed", Precision::kF32, LoadIndexed, Requests},
                      FamilyCase{"indexed", Precision::kInt8, LoadIndexed, Requests},
                      FamilyCase{"heads", Precision::kF32, LoadHeads, Requests},
                      FamilyCase{"heads", Precision::kInt8, LoadHeads, Requests},
                      FamilyCase{"plain", Precision::kF32, LoadPlain, Requests},
                      FamilyCase{"plain", Precision::kInt8, LoadPlain, Requests}),
    FamilyCaseName);

}  // namespace
}  // namespace platen::testing
