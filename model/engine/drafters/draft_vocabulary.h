// The tokens a draft layer chooses among, where that are fewer than the model knows: the most
// frequent ones of texts like those to come. A draft layer spends most of its time on scores of
// tokens that never occur; a token that is left out costs a draft, never a character.
//
// File: {"format": "platen-draft-vocabulary-1", "vocab_size": 59392, "ids": [12, 3, ...]}, the most
// frequent first.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/support/token_id.h"

namespace platen {

// At most `size` ids: all of `always`, then those with the highest counts, the lowest id among
// equals; ids that never occurred come last, because low ids are the tokenizer's first merges.
// counts[id] is how often an id occurred.
std::vector<TokenId> ChooseDraftVocabulary(std::span<const int64_t> counts,
                                           std::span<const TokenId> always, size_t size);

// Throws Error(kUsage) naming file and field: no such format, another vocabulary's size than
// `vocab_size`, ids outside of it or named twice.
std::vector<TokenId> ReadDraftVocabulary(const std::string& path, int vocab_size);

// Such a file's text.
std::string DraftVocabularyText(std::span<const TokenId> ids, int vocab_size);

}  // namespace platen
