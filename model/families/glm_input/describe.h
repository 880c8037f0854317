// What a family with GLM-OCR's images says of them: sizes, checks, facts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model/families/described_model.h"
#include "model/families/glm_input/config.h"
#include "model/families/vision_model.h"
#include "model/support/error.h"
#include "model/tokenizer/tokenizer.h"

namespace platen::glm_input {

VisionSizes SizesOf(const VisionConfig& config);

// Disagreements between the image tokens of config.json and the tokenizer; empty if none.
std::vector<Error> CheckTokens(const ImageTokens& tokens, const Tokenizer& tokenizer,
                               const std::string& config_path);

// The attention kernels keep a head's vector in fixed buffers. Throws Error(kModel).
void CheckHeadWidth(const VisionConfig& config, const std::string& config_path);

// For `platen inspect`.
std::vector<FactSection> Facts(const Config& config);
std::vector<std::pair<std::string, std::string>> TokenFacts(const ImageTokens& tokens);
nlohmann::ordered_json VisionJson(const VisionConfig& config);
nlohmann::ordered_json ImageProcessorJson(const ImageProcessorConfig& config);

}  // namespace platen::glm_input
