#include "model/families/glm_input/chat_prompt.h"

#include <algorithm>
#include <cassert>

#include "model/support/error.h"

namespace platen::glm_input {
namespace {

constexpr std::string_view kPrefix = "[gMASK]<sop>";
constexpr std::string_view kImage = "<|begin_of_image|><|image|><|end_of_image|>";
constexpr std::string_view kAssistantTag = "<|assistant|>\n";
constexpr std::string_view kEmptyThought = "<think></think>\n";
constexpr std::string_view kNoThink = "/nothink";

constexpr std::array<std::string_view, 4> kControlTokens = {"[gMASK]", "<sop>", "<|user|>",
                                                            "<|assistant|>"};

[[noreturn]] void FailUsage(const std::string& field, const std::string& reason) {
  throw Error(ErrorKind::kUsage, {.file = {}, .field = field}, reason);
}

std::string Body(const ChatMessage& message) {
  std::string text;
  for (const ChatPart& part : message.parts) {
    text += part.kind == ChatPart::Kind::kImage ? kImage : std::string_view(part.text);
  }
  return text;
}

// Without leading and trailing white space, as the template's strip().
std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t\n\v\f\r\x1c\x1d\x1e\x1f";
  const size_t begin = text.find_first_not_of(kWhiteSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhiteSpace) - begin + 1);
}

// Appends text positions cur, cur + 1, ... on all axes.
void AppendText(size_t count, int32_t cur, std::array<std::vector<int32_t>, 3>& positions) {
  for (std::vector<int32_t>& axis : positions) {
    for (size_t i = 0; i < count; ++i) axis.push_back(cur + static_cast<int32_t>(i));
  }
}

// Appends an image of rows x cols tokens in raster order: T = cur, H = cur + row, W = cur + col.
void AppendImage(int rows, int cols, int32_t cur, std::array<std::vector<int32_t>, 3>& positions) {
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      positions[0].push_back(cur);
      positions[1].push_back(cur + row);
      positions[2].push_back(cur + col);
    }
  }
}

// input_ids of `encoded` with its k-th image placeholder repeated once per token of grids[k].
std::vector<TokenId> ExpandImages(std::span<const TokenId> encoded, TokenId image_token,
                                  std::span<const PatchGrid> grids) {
  std::vector<TokenId> ids;
  size_t image = 0;
  for (const TokenId id : encoded) {
    if (id != image_token) {
      ids.push_back(id);
    } else if (image++ < grids.size()) {
      ids.insert(ids.end(), static_cast<size_t>(grids[image - 1].num_image_tokens()), id);
    }
  }
  if (image != grids.size()) {
    FailUsage("prompt", "contains " + std::string(kImagePlaceholder) +
                            ", which stands for an image; leave it out");
  }
  return ids;
}

}  // namespace

std::span<const std::string_view> PromptControlTokens() { return kControlTokens; }

// Source: the released chat template's rules for text and images (no tools, no reasoning text).
std::string RenderChat(std::span<const ChatMessage> messages, bool add_generation_prompt,
                       Thinking thinking) {
  std::string out(kPrefix);
  for (const ChatMessage& message : messages) {
    const std::string body = Body(message);
    if (message.role == "system") {
      out += "<|system|>\n" + body;
    } else if (message.role == "user") {
      out += "<|user|>\n" + body;
      if (thinking == Thinking::kDisabled && !body.ends_with(kNoThink)) out += kNoThink;
    } else if (message.role == "assistant") {
      out += kAssistantTag;
      out += kEmptyThought;
      out += Trimmed(body);
    } else {
      FailUsage("role", "unknown role \"" + message.role + "\"; known: assistant, system, user");
    }
  }
  if (add_generation_prompt) {
    out += kAssistantTag;
    if (thinking == Thinking::kDisabled) out += kEmptyThought;
  }
  return out;
}

// Source: transformers' get_rope_index for images.
void ComputeRopePositions(std::span<const TokenId> ids, TokenId image_token,
                          std::span<const PatchGrid> grids, PromptInput& out) {
  for (std::vector<int32_t>& axis : out.positions) axis.clear();
  int32_t cur = 0;
  size_t image = 0;
  for (size_t i = 0; i < ids.size();) {
    const bool is_image = ids[i] == image_token;
    size_t end = i;
    while (end < ids.size() && (ids[end] == image_token) == is_image) ++end;
    const size_t run = end - i;
    if (!is_image) {
      AppendText(run, cur, out.positions);
      cur += static_cast<int32_t>(run);
    } else {
      if (image == grids.size() || run != static_cast<size_t>(grids[image].num_image_tokens())) {
        FailUsage("prompt", "image " + std::to_string(image + 1) + " has " + std::to_string(run) +
                                " image tokens, which does not match its size");
      }
      const PatchGrid& grid = grids[image++];
      AppendImage(grid.rows / 2, grid.cols / 2, cur, out.positions);
      cur += std::max(grid.rows, grid.cols) / 2;
    }
    i = end;
  }
  if (image != grids.size()) {
    FailUsage("prompt", std::to_string(grids.size()) + " images, but image tokens for " +
                            std::to_string(image));
  }
  out.rope_delta = cur - static_cast<int32_t>(ids.size());
}

PromptInput BuildPrompt(const Tokenizer& tokenizer, const ImageTokens& tokens,
                        std::span<const PatchGrid> grids, const std::string& task_text) {
  ChatMessage message{.role = "user", .parts = {}};
  for (size_t i = 0; i < grids.size(); ++i) {
    message.parts.push_back({.kind = ChatPart::Kind::kImage, .text = {}});
  }
  message.parts.push_back({.kind = ChatPart::Kind::kText, .text = task_text});
  PromptInput out;
  out.text = RenderChat({&message, 1}, /*add_generation_prompt=*/true);
  out.input_ids = ExpandImages(tokenizer.Encode(out.text), tokens.image, grids);
  ComputeRopePositions(out.input_ids, tokens.image, grids, out);
  for (size_t i = 0; i < out.input_ids.size(); ++i) {
    if (out.input_ids[i] == tokens.image) out.image_rows.push_back(static_cast<int32_t>(i));
  }
  return out;
}

}  // namespace platen::glm_input
