#include "model/support/json_fields.h"
#include "tests/model/families/llama/llama.h"

namespace platen::llama {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr int kMaxWidth = 1 << 16;
constexpr int kMaxLayers = 1024;
constexpr int kMaxVocab = 1 << 20;
constexpr int kMaxPositions = 1 << 24;

}  // namespace

Config ReadConfig(const std::string& snapshot_dir) {
  const std::string path = SnapshotFile(snapshot_dir, "config.json");
  const nlohmann::json json = ReadJsonFile(path, kMaxConfigBytes);
  const JsonObject root(json, path);
  root.ExpectIfPresent("hidden_act", "silu");
  root.ExpectIfPresent("attention_bias", false);
  root.ExpectIfPresent("tie_word_embeddings", false);
  Config c;
  c.vocab_size = root.Int("vocab_size", 1, kMaxVocab);
  c.hidden_size = root.Int("hidden_size", 2, kMaxWidth);
  c.intermediate_size = root.Int("intermediate_size", 1, kMaxWidth);
  c.num_layers = root.Int("num_hidden_layers", 1, kMaxLayers);
  c.num_heads = root.Int("num_attention_heads", 1, c.hidden_size);
  c.num_kv_heads = root.Int("num_key_value_heads", 1, c.num_heads);
  if (c.num_heads % c.num_kv_heads != 0) {
    root.Fail("num_key_value_heads", "does not divide num_attention_heads");
  }
  if (c.hidden_size % (2 * c.num_heads) != 0) {
    root.Fail("num_attention_heads", "hidden_size is no even number for each head");
  }
  if (c.head_dim() > kMaxHeadDim) root.Fail("num_attention_heads", "a head is too wide");
  if (c.num_heads / c.num_kv_heads > kMaxQueryGroup) {
    root.Fail("num_key_value_heads", "too many query heads share a KV head");
  }
  c.max_positions = root.Int("max_position_embeddings", 1, kMaxPositions);
  c.rms_norm_eps = static_cast<float>(root.Number("rms_norm_eps", 1e-12, 0.1));
  c.rope_theta = root.Number("rope_theta", 1.0, 1e9);
  c.tokens = ReadSpecialTokens(snapshot_dir, root, c.vocab_size);
  return c;
}

}  // namespace platen::llama
