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

// One layer's heads and experts are matrices of their own; DeepSeek-V3 has 23,424 of them.
constexpr int kMaxHeadsAndExperts = 1 << 15;

// What MiniLLM's code knows besides and is off where it is 0, false or empty. Their companions
// (skip_scale, lora_r, dropout, ...) mean nothing to a merged checkpoint without them.
constexpr const char* kNotComputed[] = {
    "qk_norm",
    "value_mix",
    "partial_key_offset",
    "paired_heads",
    "attn_window",
    "attn_global_tokens",
    "sparse_attn_gate",
    "use_attn_gate",
    "sparse_attn_gate_topk",
    "embed_skip_scale",
    "embed_skip_gate",
    "skip_connections",
    "skip_gate",
    "value_embed_count",
    "value_embed_scale",
    "value_embed_gate",
    "smear",
    "smear_scale",
    "bigram_hash_size",
    "bigram_hash_scale",
    "back_out_ratio",
    "untie_lm_head_at_ratio",
};

// Fields with a default.
class Fields {
 public:
  explicit Fields(const JsonObject& object) : object_(object) {}

  bool Has(const char* key) const { return object_.Has(key); }
  int Int(const char* key, int low, int high, int fallback) const {
    return Has(key) ? object_.Int(key, low, high) : fallback;
  }
  // A default of MiniLLM's; without one, as DeepSeek's fields are, it must be there.
  int Int(const char* key, int low, int high, std::optional<int> fallback) const {
    return Has(key) || !fallback ? object_.Int(key, low, high) : *fallback;
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
  for (const char* key : kNotComputed) {
    if (!model.Has(key)) continue;
    const nlohmann::json& value = model.Required(key);
    const bool off = value == nlohmann::json(false) || (value.is_number() && value == 0) ||
                     (value.is_array() && value.empty());
    if (!off) model.Fail(key, "is " + JsonExcerpt(value) + "; this program does not compute it");
  }
}

void ReadSizes(const JsonObject& model, Form form, Config& c) {
  const Fields f(model);
  const bool mini = form == Form::kMiniLlm;
  c.form = form;
  const auto size = [&](const char* key, int high, int fallback) {
    return f.Int(key, 1, high, mini ? std::optional(fallback) : std::nullopt);
  };
  c.vocab_size = size("vocab_size", kMaxVocab, 6400);
  c.hidden_size = size("hidden_size", kMaxWidth, 512);
  c.num_layers = size("num_hidden_layers", kMaxLayers, 8);
  c.num_heads = size("num_attention_heads", kMaxHeads, 8);
  c.intermediate_size =
      size("intermediate_size", kMaxIntermediate, Multiple64(c.hidden_size * 8 / 3));
  c.max_positions = size("max_position_embeddings", kMaxPositions, 32768);
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
    return f.Int(key, 1, kMaxWidth, mini ? std::optional(fallback) : std::nullopt);
  };
  // null: no bottleneck, as 0.
  const bool stated = model.value().contains("q_lora_rank");
  if (!stated && !mini) model.Required("q_lora_rank");
  c.q_rank = f.Int("q_lora_rank", 0, kMaxWidth, stated ? 0 : 256);
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
  // Refused where a DeepSeek config lacks it: a default of transformers' is another one.
  const auto own = [&](int fallback) { return mini ? std::optional(fallback) : std::nullopt; };
  RouterConfig& r = c.router;
  r.experts = f.Int("n_routed_experts", 1, kMaxExperts, own(4));
  r.per_token = f.Int("num_experts_per_tok", 1, r.experts, own(std::min(2, r.experts)));
  r.groups = f.Int("n_group", 1, r.experts, own(1));
  r.kept_groups = f.Int("topk_group", 1, r.groups, own(r.groups));
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
  r.least_sum = mini ? 1e-9 : 1e-20;
  if (!mini) model.Required("routed_scaling_factor");
  r.scale = f.Number("routed_scaling_factor", 1e-6, 1e6, 1);
  if (!mini && f.String("topk_method", "noaux_tc") != "noaux_tc") {
    model.Fail("topk_method", "must be noaux_tc, which is what this program computes");
  }
  CheckGroups(model, r);
  c.expert_size = f.Int("moe_intermediate_size", 1, kMaxIntermediate,
                        own(Multiple64(std::max(1, c.hidden_size / 4))));
  c.shared_experts = f.Int("n_shared_experts", 0, 64, own(0));
  c.expert_interval = f.Int("moe_layer_freq", 1, kMaxLayers, 1);
  c.first_expert_layer = f.Int("first_k_dense_replace", 0, kMaxLayers, own(0));
}

// So that a small file cannot describe millions of matrices.
void CheckNumberOfMatrices(const JsonObject& model, const Config& c) {
  const int64_t parts = int64_t{c.num_layers} * (c.num_heads + c.router.experts);
  if (parts <= kMaxHeadsAndExperts) return;
  model.Fail("num_hidden_layers", "of as many heads and experts are " + std::to_string(parts) +
                                      " matrices; this program handles at most " +
                                      std::to_string(kMaxHeadsAndExperts));
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
  CheckNumberOfMatrices(model, c);
  ReadDrafts(model, c);
  const SpecialTokens minillm = {.stop = {2}, .pad = 0};
  c.tokens = ReadSpecialTokens(snapshot_dir, model, c.vocab_size,
                               form == Form::kMiniLlm ? &minillm : nullptr);
  return c;
}

}  // namespace platen::minillm
