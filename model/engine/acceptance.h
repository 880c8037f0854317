// When a draft is kept: pure functions.
#pragma once

#include <algorithm>
#include <span>

#include "model/engine/sampler.h"

namespace platen {

// Greedy acceptance: drafts are kept as far as they are what the target chose itself, so the text
// is that of plain decoding. target[j] was chosen after drafts 0 .. j-1; target.size() =
// drafts.size() + 1. The tokens decided are target[0 .. result].
inline int CountAccepted(std::span<const TokenId> drafts, std::span<const SampledToken> target) {
  size_t accepted = 0;
  while (accepted < drafts.size() && drafts[accepted] == target[accepted].index) ++accepted;
  return static_cast<int>(accepted);
}

}  // namespace platen
