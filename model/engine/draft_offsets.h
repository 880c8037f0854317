// Which token a draft head really guesses: heads trained with labels one position late are right
// about the token after the one they are asked for, and so nearly never.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/families/model.h"
#include "model/support/token_id.h"

namespace platen {

constexpr int kMostDraftOffset = 6;

struct HeadOffsets {
  int64_t rows = 0;  // that were compared
  // [j - 1]: rows i at which the head's guess is token i + j.
  std::array<int64_t, kMostDraftOffset> right = {};

  int best() const;  // the j with most, of equal ones the smallest
};

// For each draft head of the model: runs it over every row of the texts and compares its guess with
// the tokens that follow. Head k should be best at k + 2. Texts of fewer than 7 tokens give no
// rows. Throws Error(kUsage) if the model has no draft heads, Error(kEnvironment) as KvPool does.
std::vector<HeadOffsets> ScanDraftOffsets(const Model& model,
                                          std::span<const std::vector<TokenId>> texts);

}  // namespace platen
