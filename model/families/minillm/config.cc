#include "model/families/minillm/config.h"

#include <algorithm>
#include <string>

#include "model/kernels/kernels.h"
#include "model/support/json_fields.h"

namespace platen::minillm {
namespace {

// Limits on sizes, above DeepSeek-V3's. Each product formed from them in this program fits its
// type.
constexpr int kMaxWidth = 1 << 16;
constexpr int kMaxIntermediate = 1 << 18;
constexpr int kMaxLayers = 1024;
constexpr int kMaxHeads = 1024;
constexpr int kMaxVocab = 1 << 20;
constexpr int kMaxPositions = 1 << 24;
constexpr int kMaxExperts = 1024;
constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr int kMaxResidualHeads = 16;
constexpr double kMinEpsilon = 1e-12, kMaxEpsilon = 0.1;

// What MiniLLM's code knows besides, each with the value at which it does nothing.
const std::pair<const char*, nlohmann::json> kNotComputed[] = {
    {"qk_norm", false},
    {"value_mix", 0.0},
    {"partial_key_offset", 0},
    {"paired_heads", false},
    {"attn_window", 0},
    {"attn_global_tokens", 0},
    {"sparse_attn_gate", false},
    {"sparse_attn_gate_topk", 0},
    {"use_attn_gate", false},
    {"skip_connections", false},
    {"skip_gate", false},
    {"smear", false},
    {"bigram_hash_size", 0},
    {"back_out", false},
    {"untie_lm_head_at_ratio", 0.0},
    {"lora_r", 0},
    {"dropout", 0.0},
    {"attention_dropout", 0.0},
};

// Fields with a default of the form's own.
class Fields {
 public:
  explicit Fields(const JsonObject& object) : object_(object) {}

  bool Has(const char* key) const { return object_.Has(key); }
  int Int(const char* key, int low, int high, int fallback) const {
    return Has(key) ? object_.Int(key, low, high) : fallback;
  }
  double Number(const char* key, double low, double high, double fallback) const {
    return Has(key) ? object_.Number(key, low, high) : fallback;
  }
  bool Bool(const char* key, bool fallback) const {
    return Has(key) ? object_.Bool(key) : fallback;
  }
  std::string String(const char* key, const char* fallback) const {
    return Has(key) ? object_.String(key, 64) : fallback;
  }

 private:
  const JsonObject& object_;
};

// The defaults of MiniLLM's widths: a multiple of 64.
int Multiple64(int width) { return (width + 63) / 64 * 64; }

void RefuseWhatIsNotComputed(const JsonObject& model) {
  for (const auto& [key, neutral] : kNotComputed) {
    if (!model.Has(key)) continue;
    const nlohmann::json& value = model.Required(key);
    // 0, 0.0 and false all mean that it is off.
    const bool off = value == neutral || value == nlohmann::json(false) ||
                     (value.is_number() && neutral.is_number() && value == 0);
    if (!off) model.Fail(key, "is " + JsonExcerpt(value) + "; this program does not compute it");
  }
}

void ReadSizes(const JsonObject& model, Form form, Config& c) {
  const Fields f(model);
  const bool mini = form == Form::kMiniLlm;
  c.form = form;
  c.vocab_size =
      mini ? f.Int("vocab_size", 1, kMaxVocab, 6400) : model.Int("vocab_size", 1, kMaxVocab);
  c.hidden_size =
      mini ? f.Int("hidden_size", 1, kMaxWidth, 512) : model.Int("hidden_size", 1, kMaxWidth);
  c.num_layers = mini ? f.Int("num_hidden_layers", 1, kMaxLayers, 8)
                      : model.Int("num_hidden_layers", 1, kMaxLayers);
  c.num_heads = mini ? f.Int("num_attention_heads", 1, kMaxHeads, 8)
                     : model.Int("num_attention_heads", 1, kMaxHeads);
  c.intermediate_size =
      mini ? f.Int("intermediate_size", 1, kMaxIntermediate, Multiple64(c.hidden_size * 8 / 3))
           : model.Int("intermediate_size", 1, kMaxIntermediate);
  c.max_positions = f.Int("max_position_embeddings", 1, kMaxPositions, 32768);
  c.tie_word_embeddings = f.Bool("tie_word_embeddings", mini);
  c.attention_bias = f.Bool("attention_bias", false);
  c.norm_eps = static_cast<float>(f.Number("rms_norm_eps", kMinEpsilon, kMaxEpsilon, 1e-6));
  // DeepSeek's code does not pass the config's epsilon to these two norms.
  c.latent_eps = mini ? c.norm_eps : 1e-6F;
}

void ReadActivation(const JsonObject& model, Config& c) {
  const std::string name = Fields(model).String("hidden_act", "silu");
  if (name == "relu2") {
    c.activation = Activation::kRelu2;
  } else if (name != "silu") {
    model.Fail("hidden_act", "is \"" + name + "\"; this program computes silu and relu2");
  }
}

void ReadScales(const JsonObject& model, Config& c) {
  const Fields f(model);
  c.logit_softcap = f.Number("logit_softcap", 0, 1e6, 0);
  c.residual_scale = f.Number("residual_scale", 1e-6, 1e6, 1);
  c.residual_decay = f.Number("residual_decay", 0, 1e3, 0);
}

void ReadAttention(const JsonObject& model, Config& c) {
  const Fields f(model);
  const bool mini = c.form == Form::kMiniLlm;
  const auto size = [&](const char* key, int fallback) {
    return mini ? f.Int(key, 1, kMaxWidth, fallback) : model.Int(key, 1, kMaxWidth);
  };
  // null: no bottleneck, as 0.
  const bool stated = model.value().contains("q_lora_rank");
  c.q_rank = f.Int("q_lora_rank", 0, kMaxWidth, stated || !mini ? 0 : 256);
  if (c.q_rank == 0 && c.attention_bias) {
    model.Fail("attention_bias", "is true without q_lora_rank; this program does not compute it");
  }
  c.kv_rank = size("kv_lora_rank", 128);
  c.nope_width = size("qk_nope_head_dim", 64);
  c.rope_width = size("qk_rope_head_dim", 32);
  c.value_width = size("v_head_dim", 64);
  if (c.rope_width % 2 != 0) model.Fail("qk_rope_head_dim", "must be even for rotary pairs");
  if (c.latent_width() > kMaxLatentWidth) {
    model.Fail("kv_lora_rank",
               "and qk_rope_head_dim make a latent of " + std::to_string(c.kv_rank + c.rope_width) +
                   " values; this program handles at most " + std::to_string(kMaxLatentWidth));
  }
  const bool adjacent = !mini && f.Bool("rope_interleave", true);
  c.rotary = ReadRotary(model, adjacent ? Pairing::kAdjacent : Pairing::kHalves,
                        mini && f.Bool("inference_rope_scaling", false), c.max_positions);
}

void CheckGroups(const JsonObject& model, const RouterConfig& r) {
  if (r.experts % r.groups != 0) {
    model.Fail("n_group", std::to_string(r.groups) + " groups do not divide " +
                              std::to_string(r.experts) + " experts");
  }
  const int size = r.experts / r.groups;
  if (r.kept_groups * size < r.per_token) {
    model.Fail("topk_group", std::to_string(r.kept_groups) + " groups of " + std::to_string(size) +
                                 " experts are fewer than num_experts_per_tok, " +
                                 std::to_string(r.per_token));
  }
  if (r.groups > 1 && r.group_value == RouterConfig::GroupValue::kTwoLargest && size < 2) {
    model.Fail("n_group", "groups must have two experts or more");
  }
}

void ReadRouter(const JsonObject& model, Config& c) {
  using Scoring = RouterConfig::Scoring;
  const Fields f(model);
  const bool mini = c.form == Form::kMiniLlm;
  if (mini && !f.Bool("use_moe", false)) return;
  RouterConfig& r = c.router;
  r.experts = mini ? f.Int("n_routed_experts", 1, kMaxExperts, 4)
                   : model.Int("n_routed_experts", 1, kMaxExperts);
  r.per_token = f.Int("num_experts_per_tok", 1, r.experts, std::min(2, r.experts));
  r.groups = f.Int("n_group", 1, r.experts, 1);
  r.kept_groups = f.Int("topk_group", 1, r.groups, r.groups);
  const std::string scoring = f.String("scoring_func", mini ? "softmax" : "sigmoid");
  if (scoring != "softmax" && scoring != "sigmoid") {
    model.Fail("scoring_func", "is \"" + scoring + "\"; this program computes softmax and sigmoid");
  }
  r.scoring = scoring == "softmax" ? Scoring::kSoftmax : Scoring::kSigmoid;
  const bool sigmoid = r.scoring == Scoring::kSigmoid;
  r.group_value =
      !mini || sigmoid ? RouterConfig::GroupValue::kTwoLargest : RouterConfig::GroupValue::kLargest;
  r.correction_bias = !mini;
  const bool asked = f.Bool("norm_topk_prob", true);
  r.normalise = mini ? sigmoid || (r.per_token > 1 && asked) : asked;
  r.scale = f.Number("routed_scaling_factor", 1e-6, 1e6, 1);
  CheckGroups(model, r);
  c.expert_size = f.Int("moe_intermediate_size", 1, kMaxIntermediate,
                        Multiple64(std::max(1, c.hidden_size / 4)));
  c.shared_experts = f.Int("n_shared_experts", 0, 64, 0);
  c.expert_interval = f.Int("moe_layer_freq", 1, kMaxLayers, 1);
  c.first_expert_layer = f.Int("first_k_dense_replace", 0, kMaxLayers, 0);
}

// What platen.json says of MiniLLM's index.
bool IndexIsOn(const std::string& snapshot_dir) {
  constexpr const char* kKey = "attention_index";
  const std::string path = SnapshotFile(snapshot_dir, "platen.json");
  if (!FileExists(path)) return false;
  const nlohmann::json json = ReadJsonFile(path, kMaxConfigBytes);
  const JsonObject root(json, path);
  if (!root.Has(kKey)) return false;
  const std::string mode = root.String(kKey, 64);
  if (mode != "off" && mode != "causal_topk") root.Fail(kKey, "must be off or causal_topk");
  return mode == "causal_topk";
}

void ReadIndex(const std::string& snapshot_dir, const JsonObject& model, Config& c) {
  using Kind = IndexConfig::Kind;
  if (c.form == Form::kDeepSeekV3) return;
  const Fields f(model);
  const bool mini = c.form == Form::kMiniLlm;
  IndexConfig& index = c.index;
  index.heads =
      mini ? f.Int("index_n_heads", 0, kMaxHeads, 0) : model.Int("index_n_heads", 1, kMaxHeads);
  index.width = mini ? f.Int("index_head_dim", 2, kMaxHeadDim, 32)
                     : model.Int("index_head_dim", 2, kMaxHeadDim);
  index.kept =
      mini ? f.Int("index_topk", 0, kMaxPositions, 0) : model.Int("index_topk", 1, kMaxPositions);
  c.has_index_tensors = index.heads > 0 && index.kept > 0;
  if (!c.has_index_tensors || (mini && !IndexIsOn(snapshot_dir))) return;
  index.kind = mini ? Kind::kMean : Kind::kLightning;
  if (index.width % 2 != 0) model.Fail("index_head_dim", "must be even");
  if (mini) return;
  if (index.width < c.rope_width) model.Fail("index_head_dim", "is less than qk_rope_head_dim");
  if (c.q_rank == 0) model.Fail("q_lora_rank", "is needed: the index reads the query bottleneck");
}

void ReadDrafts(const JsonObject& model, Config& c) {
  const Fields f(model);
  constexpr const char* kLayers = "num_nextn_predict_layers";
  if (c.form == Form::kMiniLlm) {
    c.residual_heads = f.Int(kLayers, 0, kMaxResidualHeads, 1);
    c.residual_head_size = f.Int("mtp_intermediate_size", 1, kMaxIntermediate,
                                 Multiple64(std::max(1, 2 * c.hidden_size)));
  } else if (model.Has(kLayers)) {
    c.mtp_layers = model.Int(kLayers, 0, 1);
  }
}

}  // namespace

bool Config::HasExperts(int layer) const {
  if (router.experts == 0 || layer < first_expert_layer) return false;
  const int counted = form == Form::kMiniLlm ? layer - first_expert_layer : layer;
  return counted % expert_interval == 0;
}

Config ReadTextConfig(const std::string& snapshot_dir, const JsonObject& model, Form form) {
  Config c;
  RefuseWhatIsNotComputed(model);
  ReadSizes(model, form, c);
  ReadActivation(model, c);
  ReadScales(model, c);
  ReadAttention(model, c);
  ReadIndex(snapshot_dir, model, c);
  ReadRouter(model, c);
  ReadDrafts(model, c);
  const SpecialTokens minillm = {.stop = {2}, .pad = 0};
  c.tokens = ReadSpecialTokens(snapshot_dir, model, c.vocab_size,
                               form == Form::kMiniLlm ? &minillm : nullptr);
  return c;
}

}  // namespace platen::minillm
