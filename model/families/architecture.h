// A family: what its config.json means, which modules it has, how they are computed with.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/checkpoint/module_table.h"
#include "model/families/described_model.h"
#include "model/families/draft_model.h"
#include "model/families/draft_shape.h"
#include "model/families/prompt.h"
#include "model/families/special_tokens.h"
#include "model/families/text_model.h"
#include "model/families/vision_model.h"
#include "model/support/error.h"
#include "model/tokenizer/tokenizer.h"

namespace platen {

// A model's forward passes over members that are still empty (LoadModules fills them).
struct ModelParts {
  ModuleTable modules;  // owns the members
  std::unique_ptr<TextModel> text;
  std::unique_ptr<VisionModel> vision;  // nullptr: the family, or this snapshot, reads text only
  std::unique_ptr<DraftModel> draft;    // nullptr: no draft layer
  std::unique_ptr<DraftHeads> heads;    // nullptr: no draft heads; never beside a draft layer
};

// The architecture of one snapshot. Immutable after Settle; thread-safe.
class Architecture : public DescribedModel {
 public:
  virtual const TextSizes& text() const = 0;
  virtual const VisionSizes* vision() const = 0;  // nullptr: text only
  virtual const SpecialTokens& tokens() const = 0;
  // What stands for an image in a prompt's text, and so may not occur in a task's; empty: nothing.
  virtual std::string_view image_placeholder() const = 0;

  // Decides what only the checkpoint can tell (a head stored beside a tied embedding). Returns a
  // sentence to tell the user; empty: nothing unusual.
  virtual std::string Settle(const Checkpoint& checkpoint) = 0;

  // Disagreements between the token ids of the config files and the tokenizer; empty if none.
  virtual std::vector<Error> CheckTokens(const Tokenizer& tokenizer) const = 0;

  // The rows of a user turn of images (in order) followed by `text`. Throws Error(kUsage) if the
  // text holds image placeholders of its own, Error(kInput) for images the family cannot take.
  virtual PromptInput BuildPrompt(const Tokenizer& tokenizer, std::span<const PatchGrid> grids,
                                  const std::string& text) const = 0;

  // The rows of a conversation without images, the assistant's next turn opened. Throws
  // Error(kUsage) for a role the family does not know, or if it takes no conversations.
  virtual PromptInput BuildChat(const Tokenizer& /*tokenizer*/,
                                std::span<const ChatTurn> /*turns*/) const {
    throw Error(ErrorKind::kUsage, {.file = {}, .field = "messages"},
                "this model takes no conversations; give a prompt");
  }

  // Throws Error(kModel) for sizes the kernels cannot serve. `kernels` outlives the parts; the
  // architecture need not.
  virtual ModelParts Build(const KernelTable& kernels, VisionAttention attention) const = 0;

  // The draft layer or the draft heads, for a trainer; nothing: there are none. Throws
  // Error(kModel) if they are of a kind whose training is not known.
  virtual std::optional<DraftShape> Draft() const { return std::nullopt; }

  // For `platen inspect`: facts of the tokenizer's special tokens, which stand by themselves.
  virtual std::vector<std::pair<std::string, std::string>> TokenFacts() const = 0;
};

}  // namespace platen
