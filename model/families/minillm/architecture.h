// MiniLLM and the DeepSeek forms of the same decoder: text in, text out; or behind GLM-OCR's
// images, with its prompt. Image rows count as text rows then: positions are plain, each row sees
// those before it.
#pragma once

#include <memory>
#include <string>

#include "model/families/architecture.h"
#include "model/families/minillm/config.h"

namespace platen::minillm {

class MiniLlm final : public Architecture {
 public:
  // `snapshot_dir` is the folder the config was read from.
  MiniLlm(Config config, std::string snapshot_dir);

  const Config& config() const { return config_; }

  const TextSizes& text() const override { return text_; }
  const VisionSizes* vision() const override { return config_.images ? &vision_ : nullptr; }
  const SpecialTokens& tokens() const override { return config_.tokens; }
  std::string_view image_placeholder() const override;
  // Which of a checkpoint's forms this one has: stacked experts, stored rotary tables, a head of
  // its own, draft heads. Throws Error(kModel) as CheckForms does.
  std::string Settle(const Checkpoint& checkpoint) override;
  ModuleTable Modules() const override;
  std::vector<Error> CheckTokens(const Tokenizer& tokenizer) const override;
  // GLM-OCR's behind images; else one user turn in ChatML where the tokenizer has its control
  // tokens; else the text as it is.
  PromptInput BuildPrompt(const Tokenizer& tokenizer, std::span<const PatchGrid> grids,
                          const std::string& text) const override;
  // ChatML, for snapshots whose tokenizer has its control tokens.
  PromptInput BuildChat(const Tokenizer& tokenizer, std::span<const ChatTurn> turns) const override;
  ModelParts Build(const KernelTable& kernels, VisionAttention attention) const override;
  std::optional<DraftShape> Draft() const override;
  std::vector<FactSection> Facts() const override;
  std::vector<std::pair<std::string, std::string>> TokenFacts() const override;
  nlohmann::ordered_json ConfigJson() const override;

 private:
  std::string Layer(int layer) const;
  std::string SettleTables(const Checkpoint& checkpoint);
  std::string SettleDrafts(const Checkpoint& checkpoint);

  Config config_;
  std::string dir_;
  TextSizes text_;
  VisionSizes vision_;
  int table_positions_ = 0;  // rows of stored rotary tables
};

// For model_type minillm, deepseek_v3 and deepseek_v32. Throws Error(kModel) as ReadTextConfig
// does.
std::unique_ptr<Architecture> ReadMiniLlm(const std::string& snapshot_dir);
std::unique_ptr<Architecture> ReadDeepSeekV3(const std::string& snapshot_dir);
std::unique_ptr<Architecture> ReadDeepSeekV32(const std::string& snapshot_dir);
// For model_type glm_ocr whose text_config has minillm.
std::unique_ptr<Architecture> ReadBehindGlmImages(const std::string& snapshot_dir);

}  // namespace platen::minillm
