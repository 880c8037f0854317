#include "model/families/snapshot.h"

#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "model/families/glm_ocr/chat_prompt.h"
#include "model/families/glm_ocr/product_names.h"
#include "model/support/error.h"
#include "model/support/mapped_file.h"

namespace platen {
namespace {

using Shape = std::vector<int64_t>;

// Collects specs of one group under a name prefix.
class SpecList {
 public:
  explicit SpecList(std::vector<TensorSpec>& out) : out_(out) {}

  void In(std::string prefix, std::string group) {
    prefix_ = std::move(prefix);
    group_ = std::move(group);
  }
  void Weight(const std::string& name, Shape shape) { Add(name + ".weight", std::move(shape)); }
  // weight [rows, ...] and bias [rows].
  void WeightAndBias(const std::string& name, Shape shape) {
    const int64_t rows = shape.front();
    Weight(name, std::move(shape));
    Add(name + ".bias", {rows});
  }

 private:
  void Add(const std::string& name, Shape shape) {
    out_.push_back({prefix_ + name, std::move(shape), group_});
  }

  std::vector<TensorSpec>& out_;
  std::string prefix_;
  std::string group_;
};

constexpr char kLanguage[] = "model.language_model.";
constexpr char kVisual[] = "model.visual.";

std::string LayerPrefix(int layer) {
  return std::string(kLanguage) + "layers." + std::to_string(layer) + ".";
}

// The ten tensors of one decoder layer; the MTP layer has the same.
void AddDecoderLayer(const TextConfig& text, SpecList& specs) {
  const int64_t hidden = text.hidden_size;
  for (const char* norm : {"input_layernorm", "post_self_attn_layernorm",
                           "post_attention_layernorm", "post_mlp_layernorm"}) {
    specs.Weight(norm, {hidden});
  }
  specs.Weight("self_attn.q_proj", {text.q_size(), hidden});
  specs.Weight("self_attn.k_proj", {text.kv_size(), hidden});
  specs.Weight("self_attn.v_proj", {text.kv_size(), hidden});
  specs.Weight("self_attn.o_proj", {hidden, text.q_size()});
  specs.Weight("mlp.gate_up_proj", {2 * int64_t{text.intermediate_size}, hidden});
  specs.Weight("mlp.down_proj", {hidden, text.intermediate_size});
}

void AddVision(const VisionConfig& vision, SpecList& specs) {
  const int64_t width = vision.hidden_size;
  const int64_t inner = vision.intermediate_size;
  specs.In(kVisual, "vision");
  specs.WeightAndBias("patch_embed.proj", {width, vision.in_channels, vision.temporal_patch_size,
                                           vision.patch_size, vision.patch_size});
  for (int block = 0; block < vision.depth; ++block) {
    specs.In(std::string(kVisual) + "blocks." + std::to_string(block) + ".", "vision");
    specs.Weight("norm1", {width});
    specs.Weight("norm2", {width});
    specs.WeightAndBias("attn.qkv", {3 * width, width});
    specs.Weight("attn.q_norm", {vision.head_dim()});
    specs.Weight("attn.k_norm", {vision.head_dim()});
    specs.WeightAndBias("attn.proj", {width, width});
    specs.WeightAndBias("mlp.gate_proj", {inner, width});
    specs.WeightAndBias("mlp.up_proj", {inner, width});
    specs.WeightAndBias("mlp.down_proj", {width, inner});
  }
  specs.In(kVisual, "vision");
  specs.Weight("post_layernorm", {width});
}

void AddMerger(const VisionConfig& vision, SpecList& specs) {
  const int64_t out = vision.out_hidden_size;
  const int64_t inner = vision.merger_intermediate_size();
  specs.In(kVisual, "merger");
  specs.WeightAndBias("downsample", {out, vision.hidden_size, vision.spatial_merge_size,
                                     vision.spatial_merge_size});
  specs.In(std::string(kVisual) + "merger.", "merger");
  specs.Weight("proj", {out, out});
  specs.WeightAndBias("post_projection_norm", {out});
  specs.Weight("gate_proj", {inner, out});
  specs.Weight("up_proj", {inner, out});
  specs.Weight("down_proj", {out, inner});
}

std::string InDir(const std::string& dir, const char* name) {
  return (std::filesystem::path(dir) / name).string();
}

// The token `content` exists in the tokenizer and has the id the config gives it, if any.
void CheckAddedToken(const Tokenizer& tokenizer, const std::string& content,
                     std::optional<TokenId> config_id, const char* config_field,
                     const std::string& dir, std::vector<Error>& problems) {
  const std::optional<TokenId> id = tokenizer.AddedTokenId(content);
  if (!id) {
    problems.emplace_back(
        ErrorKind::kModel,
        ErrorLocation{.file = InDir(dir, "tokenizer.json"), .field = "added_tokens"},
        "has no token " + content + ", which the prompt needs");
  } else if (config_id && *id != *config_id) {
    problems.emplace_back(ErrorKind::kModel,
                          ErrorLocation{.file = InDir(dir, "config.json"), .field = config_field},
                          "is " + std::to_string(*config_id) + ", but tokenizer.json gives " +
                              content + " the id " + std::to_string(*id));
  }
}

void ThrowFirst(const std::vector<Error>& problems) {
  if (problems.empty()) return;
  const Error& first = problems.front();
  if (problems.size() == 1) throw first;
  throw Error(first.kind(), first.location(),
              first.reason() + " (and " + std::to_string(problems.size() - 1) +
                  " more problems; platen inspect lists them)");
}

}  // namespace

std::vector<TensorSpec> RequiredTensors(const ModelConfig& config) {
  const TextConfig& text = config.text;
  std::vector<TensorSpec> out;
  SpecList specs(out);
  specs.In(kLanguage, "embedding");
  specs.Weight("embed_tokens", {text.vocab_size, text.hidden_size});
  if (!text.tie_word_embeddings) {
    specs.In("", "head");
    specs.Weight("lm_head", {text.vocab_size, text.hidden_size});
  }
  for (int layer = 0; layer < text.num_layers; ++layer) {
    specs.In(LayerPrefix(layer), "decoder");
    AddDecoderLayer(text, specs);
  }
  specs.In(kLanguage, "decoder");
  specs.Weight("norm", {text.hidden_size});
  if (text.num_mtp_layers == 1) {
    specs.In(LayerPrefix(text.num_layers), "mtp");
    AddDecoderLayer(text, specs);
    specs.Weight("enorm", {text.hidden_size});
    specs.Weight("hnorm", {text.hidden_size});
    specs.Weight("eh_proj", {text.hidden_size, 2 * int64_t{text.hidden_size}});
    specs.Weight("shared_head.norm", {text.hidden_size});
  }
  AddVision(config.vision, specs);
  AddMerger(config.vision, specs);
  return out;
}

std::vector<TensorSpec> OptionalTensors(const ModelConfig& config) {
  std::vector<TensorSpec> out;
  SpecList specs(out);
  if (config.text.tie_word_embeddings) {
    specs.In("", "head");
    specs.Weight("lm_head", {config.text.vocab_size, config.text.hidden_size});
  }
  if (config.text.num_mtp_layers == 0) return out;
  specs.In(LayerPrefix(config.text.num_layers), "mtp");
  specs.Weight("embed_tokens", {config.text.vocab_size, config.text.hidden_size});
  specs.Weight("shared_head.head", {config.text.vocab_size, config.text.hidden_size});
  return out;
}

TensorCheck CheckTensors(const ModelConfig& config, const Checkpoint& checkpoint,
                         const std::string& dir) {
  TensorCheck check;
  std::set<std::string> known;
  const auto compare = [&](const TensorSpec& spec) {
    const StoredTensor* stored = checkpoint.Find(spec.name);
    if (stored == nullptr || stored->shape == spec.shape) return stored != nullptr;
    check.mismatched.emplace_back(
        ErrorKind::kModel,
        ErrorLocation{.file = stored->file, .field = spec.name, .offset = stored->file_offset},
        "has shape " + ShapeText(stored->shape) + ", config.json needs " + ShapeText(spec.shape));
    return true;
  };
  for (const TensorSpec& spec : RequiredTensors(config)) {
    known.insert(spec.name);
    if (compare(spec)) continue;
    check.missing.emplace_back(
        ErrorKind::kModel, ErrorLocation{.file = dir, .field = spec.name},
        "is missing from the checkpoint; its shape would be " + ShapeText(spec.shape));
  }
  for (const TensorSpec& spec : OptionalTensors(config)) {
    known.insert(spec.name);
    compare(spec);
  }
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    if (!known.contains(name)) check.unexpected.push_back(name);
  }
  return check;
}

std::string ResolveHead(const Checkpoint& checkpoint, const std::string& dir, ModelConfig& config) {
  const StoredTensor* head = checkpoint.Find("lm_head.weight");
  const StoredTensor* embedding = checkpoint.Find("model.language_model.embed_tokens.weight");
  std::string note;
  if (config.text.tie_word_embeddings && head != nullptr && embedding != nullptr) {
    if (!SameContent(*head, *embedding)) {
      config.text.tie_word_embeddings = false;
      note =
          "config.json says tie_word_embeddings, but the checkpoint has an lm_head.weight that "
          "differs from the embedding; the stored one is used";
    }
    ReleasePages(head->bytes);
    ReleasePages(embedding->bytes);
  }
  config.quantization.Check(ProductNames(config), InDir(dir, "platen.json"));
  return note;
}

std::vector<Error> CheckTokens(const ModelConfig& config, const Tokenizer& tokenizer,
                               const std::string& dir) {
  std::vector<Error> problems;
  const SpecialTokens& tokens = config.tokens;
  CheckAddedToken(tokenizer, "<|image|>", tokens.image, "image_token_id", dir, problems);
  CheckAddedToken(tokenizer, "<|begin_of_image|>", tokens.image_start, "image_start_token_id", dir,
                  problems);
  CheckAddedToken(tokenizer, "<|end_of_image|>", tokens.image_end, "image_end_token_id", dir,
                  problems);
  for (const std::string_view content : PromptControlTokens()) {
    CheckAddedToken(tokenizer, std::string(content), std::nullopt, "", dir, problems);
  }
  for (const TokenId id : tokens.stop) {
    if (tokenizer.IsAdded(id)) continue;
    problems.emplace_back(
        ErrorKind::kModel,
        ErrorLocation{.file = InDir(dir, "config.json"), .field = "eos_token_id"},
        "stop id " + std::to_string(id) + " is not an added token of tokenizer.json");
  }
  if (tokenizer.max_id() >= config.text.vocab_size) {
    problems.emplace_back(
        ErrorKind::kModel,
        ErrorLocation{.file = InDir(dir, "config.json"), .field = "text_config.vocab_size"},
        "is " + std::to_string(config.text.vocab_size) + ", but tokenizer.json has id " +
            std::to_string(tokenizer.max_id()));
  }
  return problems;
}

Snapshot LoadSnapshot(const std::string& dir) {
  Snapshot snapshot{.dir = dir,
                    .config = ReadModelConfig(dir),
                    .tokenizer = Tokenizer::Load(InDir(dir, "tokenizer.json")),
                    .checkpoint = Checkpoint::Open(dir),
                    .warnings = {}};
  ThrowFirst(CheckTokens(snapshot.config, snapshot.tokenizer, dir));
  const TensorCheck tensors = CheckTensors(snapshot.config, snapshot.checkpoint, dir);
  ThrowFirst(tensors.missing);
  ThrowFirst(tensors.mismatched);
  const std::string note = ResolveHead(snapshot.checkpoint, dir, snapshot.config);
  if (!note.empty()) snapshot.warnings.push_back(dir + ": " + note);
  if (!tensors.unexpected.empty()) {
    snapshot.warnings.push_back(
        dir + ": " + std::to_string(tensors.unexpected.size()) +
        " tensors are not part of the architecture and are not used, first " +
        tensors.unexpected.front());
  }
  return snapshot;
}

}  // namespace platen
