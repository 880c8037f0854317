// When a draft is kept: pure functions.
#pragma once

#include <algorithm>
#include <span>

#include "model/engine/sampler.h"

namespace platen {

enum class AcceptanceRule {
  // Drafts are kept as far as they are what the target chose itself: the text of plain decoding.
  kGreedy,
};

// "greedy", as options and reports name it.
inline const char* AcceptanceRuleName(AcceptanceRule) { return "greedy"; }

// How many drafts are kept. target[j] was chosen after drafts 0 .. j-1; target.size() =
// drafts.size() + 1. The tokens decided are target[0 .. result].
inline int CountAccepted(AcceptanceRule /*rule*/, std::span<const TokenId> drafts,
                         std::span<const SampledToken> target) {
  size_t accepted = 0;
  while (accepted < drafts.size() && drafts[accepted] == target[accepted].index) ++accepted;
  return static_cast<int>(accepted);
}

}  // namespace platen
