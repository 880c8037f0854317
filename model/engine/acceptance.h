// When a draft is kept.
#pragma once

#include <span>

#include "model/engine/sampler.h"

namespace platen {

// Drafts for the places from a row on, and what they were drawn from.
struct JudgedDrafts {
  std::span<const TokenId> tokens;
  // Of each draft; none: every draft was certain, as argmax and lookup drafts are. A draft that was
  // not drawn must come without: judged by chances that it was not drawn with, it would change the
  // distribution of the text.
  std::span<const TokenDistribution> distributions;
};

// Buffers for one thread.
struct AcceptanceScratch {
  explicit AcceptanceScratch(const KernelTable& kernels) : sampler(kernels) {}
  TokenSampler sampler;
  TokenDistribution target, residual;
};

// How many of the drafts are kept; decided[0 .. result] are the tokens decided, the last of them
// the target's own. rows [drafts + 1, vocab], row j is what the target says after j drafts; they
// are changed. `first`: of row 0. A token with index -1 ends the decisions: what comes before it
// counts.
//
// With AcceptanceRule::kExact, decided[j] is what the target chooses at row j for all j.
int DecideTokens(const SamplingOptions& options, const TokenContext& first,
                 const JudgedDrafts& drafts, MatView rows, AcceptanceScratch& scratch,
                 std::span<SampledToken> decided);

}  // namespace platen
