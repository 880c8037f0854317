#include "model/families/minillm/architecture.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/families/glm_input/chat_prompt.h"
#include "model/families/glm_input/describe.h"
#include "model/families/glm_input/vision.h"
#include "model/families/minillm/chat_ml.h"
#include "model/families/minillm/checkpoint_check.h"
#include "model/families/minillm/decoder.h"
#include "model/families/minillm/modules.h"
#include "model/families/minillm/mtp.h"
#include "model/families/tied_head.h"
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
  const StoredTensor* any = cosines != nullptr ? cosines : sines;
  if (config_.form != Form::kMiniLlm || any == nullptr) return "";
  if (cosines == nullptr || sines == nullptr) {
    throw Error(ErrorKind::kModel, {.file = any->file, .field = any->name},
                "is there without the other of the two rotary tables");
  }
  const std::vector<int64_t> shape = {cosines->shape.empty() ? 0 : cosines->shape.front(),
                                      config_.rope_width};
  for (const StoredTensor* table : {cosines, sines}) {
    if (table->shape == shape && shape.front() > 0) continue;
    throw Error(ErrorKind::kModel, {.file = table->file, .field = table->name},
                "has shape " + ShapeText(table->shape) +
                    "; freqs_cos and freqs_sin must have as many rows of " +
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
  const auto first_head = checkpoint.tensors().lower_bound("mtp_layers.");
  const bool heads =
      first_head != checkpoint.tensors().end() && first_head->first.starts_with("mtp_layers.");
  if (config_.residual_heads > 0 && !heads) {
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

std::string MiniLlm::Settle(const Checkpoint& checkpoint) {
  config_.stacked_experts = CheckForms(config_, checkpoint);
  std::string note;
  const auto add = [&](const std::string& sentence) {
    if (!note.empty() && !sentence.empty()) note += "; ";
    note += sentence;
  };
  add(SettleTiedHead(checkpoint, PrefixOf(config_) + "embed_tokens.weight",
                     config_.tie_word_embeddings));
  add(SettleTables(checkpoint));
  add(SettleDrafts(checkpoint));
  const int positions = text_.max_positions;
  text_ = TextSizesOf(config_);
  text_.max_positions = positions;
  return note;
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
  if (!w.heads.empty()) {
    parts.heads =
        std::make_unique<ResidualHeads>(config_.activation, config_.norm_eps, w.heads, kernels);
  }
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
