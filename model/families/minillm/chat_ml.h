// ChatML, the prompt of MiniLLM: turns between <|im_start|> and <|im_end|>.
//
// The rules are built in; templates are not interpreted. A snapshot with another template than the
// known ones is refused.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/families/prompt.h"
#include "model/tokenizer/tokenizer.h"

namespace platen::minillm {

enum class Thinking { kDefault, kDisabled };

// The first turn's text is the system line if its role is "system", else a default stands there;
// every further turn follows, its role and text unchanged. `add_generation_prompt`: the assistant's
// turn is opened.
std::string RenderChatMl(std::span<const ChatTurn> turns, bool add_generation_prompt,
                         Thinking thinking = Thinking::kDefault);

// Whether the tokenizer has the control tokens.
bool KnowsChatMl(const Tokenizer& tokenizer);

// Throws Error(kModel) naming the file if the snapshot has a chat template that says something
// else.
void CheckChatTemplate(const std::string& snapshot_dir);

}  // namespace platen::minillm
