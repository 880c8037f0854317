// Texts that end an answer. They may span tokens, so they are looked for in the text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/support/token_id.h"

namespace platen {

class Tokenizer;

inline constexpr size_t kMostStopStringBytes = 256;
inline constexpr size_t kMostStopStrings = 16;

// Throws Error(kInput) for too many, empty or too long ones.
void CheckStopStrings(std::span<const std::string> stops);

// Whether one of them ends within the newest token. Call once per decided token.
bool EndsWithStopString(const Tokenizer& tokenizer, std::span<const std::string> stops,
                        std::span<const TokenId> tokens);

// The text before the first of them.
void CutAtStopString(std::span<const std::string> stops, std::string& text);

}  // namespace platen
