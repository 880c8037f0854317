// From a task prompt and image grids to the model's input rows.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/glm_input/config.h"
#include "model/families/prompt.h"
#include "model/tokenizer/tokenizer.h"

namespace platen::glm_input {

// One part of a message: an image placeholder or text.
struct ChatPart {
  enum class Kind { kText, kImage } kind = Kind::kText;
  std::string text;
};

struct ChatMessage {
  std::string role;             // "system", "user", "assistant"
  std::vector<ChatPart> parts;  // in order
};

// Stands for an image in the rendered text.
inline constexpr std::string_view kImagePlaceholder = "<|image|>";

enum class Thinking { kDefault, kDisabled };

// Added tokens every prompt contains besides the image tokens; a tokenizer must have them.
std::span<const std::string_view> PromptControlTokens();

// The text the snapshot's chat template renders: prefix, role tags, one "<|image|>" per image.
// The rules are built in; chat_template.jinja is not interpreted. Throws Error(kUsage) for an
// unknown role.
std::string RenderChat(std::span<const ChatMessage> messages, bool add_generation_prompt,
                       Thinking thinking = Thinking::kDefault);

// Renders a user turn of images (in order) followed by `task_text`, tokenises it, expands every
// image placeholder to its grid's tokens and computes 3-D rope positions.
// Throws Error(kUsage) if the text contains image placeholders of its own (their number would not
// match the grids).
PromptInput BuildPrompt(const Tokenizer& tokenizer, const ImageTokens& tokens,
                        std::span<const PatchGrid> grids, const std::string& task_text);

// Rope positions for ids whose image runs have the given grids (get_rope_index of the reference).
// Throws Error(kUsage) if the number of image tokens does not match the grids.
void ComputeRopePositions(std::span<const TokenId> ids, TokenId image_token,
                          std::span<const PatchGrid> grids, PromptInput& out);

}  // namespace platen::glm_input
