#include "model/families/minillm/architecture.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/families/glm_input/chat_prompt.h"
#include "model/families/glm_input/describe.h"
#include "model/families/glm_input/vision.h"
#include "model/families/minillm/chat_ml.h"
#include "model/families/minillm/decoder.h"
#include "model/families/minillm/modules.h"
#include "model/families/minillm/mtp.h"
#include "model/support/json_fields.h"

namespace platen::minillm {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;

TextSizes TextSizesOf(const Config& c) {
  TextSizes sizes;
  if (c.images) sizes.config_field = "text_config.";
  sizes.vocab_size = c.vocab_size;
  sizes.hidden_size = c.hidden_size;
  sizes.max_positions = c.max_positions;
  sizes.num_draft_layers = c.mtp_layers + c.residual_heads;
  sizes.cache = CacheShapeOf(c, &sizes.num_target_planes);
  sizes.attention = {c.num_layers, c.num_heads, c.latent_width(), c.kv_rank};
  return sizes;
}

// Plain indices, image rows included.
void FillPositions(PromptInput& prompt) {
  for (auto& axis : prompt.positions) {
    axis.resize(prompt.input_ids.size());
    std::iota(axis.begin(), axis.end(), 0);
  }
}

// Forms of checkpoints that this program does not read, told by their tensors.
void RefuseOtherForms(const StoredTensor& tensor) {
  const auto refuse = [&](const char* what) {
    throw Error(ErrorKind::kModel, {.file = tensor.file, .field = tensor.name}, what);
  };
  if (tensor.name.ends_with(".base.weight")) {
    refuse("belongs to adapters (LoRA); give a checkpoint in which they are merged");
  }
  if (tensor.name.ends_with(".weight_scale_inv")) {
    refuse("belongs to weights in FP8; give a checkpoint in bf16, f16 or f32");
  }
  if (tensor.name.starts_with("vision_proj.") || tensor.name.starts_with("vision_encoder.")) {
    refuse("belongs to MiniLLM's images by CLIP, which this program does not compute");
  }
}

std::unique_ptr<Architecture> Read(const std::string& snapshot_dir, Form form) {
  const std::string path = SnapshotFile(snapshot_dir, "config.json");
  const nlohmann::json json = ReadJsonFile(path, kMaxConfigBytes);
  CheckChatTemplate(snapshot_dir);
  return std::make_unique<MiniLlm>(ReadTextConfig(snapshot_dir, JsonObject(json, path), form),
                                   snapshot_dir);
}

}  // namespace

MiniLlm::MiniLlm(Config config, std::string snapshot_dir)
    : config_(std::move(config)), dir_(std::move(snapshot_dir)), text_(TextSizesOf(config_)) {
  if (config_.images) vision_ = glm_input::SizesOf(config_.images->vision);
}

std::string MiniLlm::Layer(int layer) const {
  return PrefixOf(config_) + "layers." + std::to_string(layer) + ".";
}

std::string_view MiniLlm::image_placeholder() const {
  return config_.images ? glm_input::kImagePlaceholder : std::string_view();
}

// The reference reads positions from the tables, so there are no more than these have.
std::string MiniLlm::SettleTables(const Checkpoint& checkpoint) {
  const StoredTensor* cosines = checkpoint.Find(PrefixOf(config_) + "freqs_cos");
  const StoredTensor* sines = checkpoint.Find(PrefixOf(config_) + "freqs_sin");
  if (config_.form != Form::kMiniLlm || cosines == nullptr || sines == nullptr) return "";
  const std::vector<int64_t> shape = {cosines->shape.empty() ? 0 : cosines->shape.front(),
                                      config_.rope_width};
  if (cosines->shape != shape || sines->shape != shape || shape.front() == 0) {
    throw Error(ErrorKind::kModel, {.file = cosines->file, .field = cosines->name},
                "has shape " + ShapeText(cosines->shape) + "; it and freqs_sin must have rows of " +
                    std::to_string(config_.rope_width) + " values");
  }
  config_.rotary.tables_in_file = true;
  table_positions_ = static_cast<int>(std::min<int64_t>(shape.front(), 1 << 24));
  text_.max_positions = std::min(text_.max_positions, table_positions_);
  return CompareTables(config_, *cosines, *sines);
}

std::string MiniLlm::SettleDrafts(const Checkpoint& checkpoint) {
  const auto absent = [&](const std::string& name) { return checkpoint.Find(name) == nullptr; };
  std::string note;
  if (config_.residual_heads > 0 && absent("mtp_layers.0.norm.weight")) {
    config_.residual_heads = 0;
    note =
        "config.json tells of draft heads, but the checkpoint has none; nothing is drafted "
        "by the model";
  }
  const std::string layer = Layer(config_.num_layers);
  if (config_.mtp_layers > 0 && absent(layer + "eh_proj.weight")) {
    config_.mtp_layers = 0;
    note =
        "config.json tells of a draft layer, but the checkpoint has none; nothing is drafted "
        "by the model";
  }
  if (config_.mtp_layers > 0 && config_.index.kind != IndexConfig::Kind::kNone) {
    config_.mtp_layers = 0;
    note = "a draft layer with an index is not computed; nothing is drafted by the model";
  }
  config_.mtp_has_experts = !absent(layer + "mlp.gate.weight");
  return note;
}

// Which layers have experts is a rule on which programs differ: the checkpoint decides whether this
// one is right.
void MiniLlm::CheckExperts(const Checkpoint& checkpoint) const {
  for (int i = 0; i < config_.num_layers; ++i) {
    const StoredTensor* gate = checkpoint.Find(Layer(i) + "mlp.gate.weight");
    if (gate == nullptr || config_.HasExperts(i)) continue;
    throw Error(ErrorKind::kModel, {.file = gate->file, .field = gate->name},
                "is there, but by first_k_dense_replace and moe_layer_freq of config.json layer " +
                    std::to_string(i) + " has no experts");
  }
}

std::string MiniLlm::Settle(const Checkpoint& checkpoint) {
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    RefuseOtherForms(tensor);
    if (name.ends_with(".mlp.experts.gate_up_proj")) config_.stacked_experts = true;
  }
  CheckExperts(checkpoint);
  const std::string tables = SettleTables(checkpoint);
  const std::string drafts = SettleDrafts(checkpoint);
  const int positions = text_.max_positions;
  text_ = TextSizesOf(config_);
  text_.max_positions = positions;
  return tables.empty() ? drafts : drafts.empty() ? tables : tables + "; " + drafts;
}

ModuleTable MiniLlm::Modules() const { return DescribeModules(config_, table_positions_).table; }

std::vector<Error> MiniLlm::CheckTokens(const Tokenizer& tokenizer) const {
  if (!config_.images) return {};
  return glm_input::CheckTokens(config_.images->image_tokens, tokenizer,
                                SnapshotFile(dir_, "config.json"));
}

PromptInput MiniLlm::BuildPrompt(const Tokenizer& tokenizer, std::span<const PatchGrid> grids,
                                 const std::string& text) const {
  PromptInput prompt;
  if (config_.images) {
    prompt = glm_input::BuildPrompt(tokenizer, config_.images->image_tokens, grids, text);
    prompt.rope_delta = 0;
  } else if (!grids.empty()) {
    throw Error(ErrorKind::kInput, {}, "this model reads text only");
  } else {
    const ChatTurn turn = {"user", text};
    prompt.text = KnowsChatMl(tokenizer) ? RenderChatMl({&turn, 1}, true) : text;
    prompt.input_ids = tokenizer.Encode(prompt.text);
  }
  FillPositions(prompt);
  return prompt;
}

PromptInput MiniLlm::BuildChat(const Tokenizer& tokenizer, std::span<const ChatTurn> turns) const {
  if (config_.images || !KnowsChatMl(tokenizer)) return Architecture::BuildChat(tokenizer, turns);
  PromptInput prompt;
  prompt.text = RenderChatMl(turns, /*add_generation_prompt=*/true);
  prompt.input_ids = tokenizer.Encode(prompt.text);
  FillPositions(prompt);
  return prompt;
}

ModelParts MiniLlm::Build(const KernelTable& kernels, VisionAttention attention) const {
  if (config_.images) {
    glm_input::CheckHeadWidth(config_.images->vision, SnapshotFile(dir_, "config.json"));
  }
  BoundModules modules = DescribeModules(config_, table_positions_);
  const Weights& w = *modules.weights;
  ModelParts parts;
  parts.text = std::make_unique<Decoder>(config_, w, kernels);
  if (w.mtp) parts.draft = std::make_unique<MtpLayer>(config_, w, kernels);
  if (config_.images) {
    parts.vision = std::make_unique<glm_input::VisionEncoder>(
        config_.images->vision, config_.images->image_processor, w.vision, kernels, attention);
  }
  if (!w.heads.empty()) parts.heads = std::make_unique<ResidualHeads>(config_.activation, config_.norm_eps, w.heads, kernels);
  parts.modules = std::move(modules.table);
  return parts;
}

// The wrapper's config, tokenizer and prompt are GLM-OCR's.
std::unique_ptr<Architecture> ReadBehindGlmImages(const std::string& snapshot_dir) {
  const std::string path = SnapshotFile(snapshot_dir, "config.json");
  const nlohmann::json json = ReadJsonFile(path, kMaxConfigBytes);
  const JsonObject root(json, path);
  Config config = ReadTextConfig(snapshot_dir, root.Object("text_config"), Form::kMiniLlm);
  config.images = glm_input::ReadConfig(snapshot_dir, root,
                                        {config.hidden_size, config.vocab_size, config.tokens});
  return std::make_unique<MiniLlm>(std::move(config), snapshot_dir);
}

std::unique_ptr<Architecture> ReadMiniLlm(const std::string& snapshot_dir) {
  return Read(snapshot_dir, Form::kMiniLlm);
}
std::unique_ptr<Architecture> ReadDeepSeekV3(const std::string& snapshot_dir) {
  return Read(snapshot_dir, Form::kDeepSeekV3);
}
std::unique_ptr<Architecture> ReadDeepSeekV32(const std::string& snapshot_dir) {
  return Read(snapshot_dir, Form::kDeepSeekV32);
}

}  // namespace platen::minillm
