// GLM-OCR: the architecture of zai-org/GLM-OCR and of the bundled platen-mini.
#pragma once

#include <memory>
#include <string>

#include "model/families/architecture.h"
#include "model/families/glm_ocr/config.h"

namespace platen::glm_ocr {

class GlmOcr final : public Architecture {
 public:
  // `config_path` is the file the config was read from, for messages.
  GlmOcr(Config config, std::string config_path);

  const Config& config() const { return config_; }

  const TextSizes& text() const override { return text_; }
  const VisionSizes* vision() const override { return &vision_; }
  const SpecialTokens& tokens() const override { return config_.tokens; }
  std::string_view image_placeholder() const override;
  std::string Settle(const Checkpoint& checkpoint) override;
  ModuleTable Modules() const override;
  std::vector<Error> CheckTokens(const Tokenizer& tokenizer) const override;
  PromptInput BuildPrompt(const Tokenizer& tokenizer, std::span<const PatchGrid> grids,
                          const std::string& text) const override;
  ModelParts Build(const KernelTable& kernels, VisionAttention attention) const override;
  std::optional<DraftShape> Draft() const override;
  std::vector<FactSection> Facts() const override;
  std::vector<std::pair<std::string, std::string>> TokenFacts() const override;
  nlohmann::ordered_json ConfigJson() const override;

 private:
  void CheckKernelLimits() const;

  Config config_;
  std::string config_path_;
  TextSizes text_;
  VisionSizes vision_;
};

// Throws Error(kModel) as ReadConfig does.
std::unique_ptr<Architecture> ReadArchitecture(const std::string& snapshot_dir);

}  // namespace platen::glm_ocr
