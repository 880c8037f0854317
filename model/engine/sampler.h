// How a token is chosen from a row of logits.
//
// The steps and their order are those of Hugging Face transformers: repetition penalty and bans,
// then temperature, the k most likely, the most likely that together have the chance p. A token is
// drawn by a race: the kept token t with the largest z_t / T - log(e_t) wins, where e_t is
// exponential noise that depends on the request's seed, the token's place and t alone (the Gumbel
// trick). So the draw needs no sums, and two rows of nearly equal logits give the same token: a
// drafter that draws with the same noise is right as often as it can be.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "model/engine/random_stream.h"
#include "model/engine/sampling_options.h"
#include "model/kernels/kernels.h"
#include "model/ops/tensor.h"
#include "model/support/token_id.h"

namespace platen {

// A chosen token and its probability under the softmax of the row as the model gave it, before all
// steps above; index -1: a logit is not a number, or nothing is left to choose.
using SampledToken = Selection;

// Where a token stands. Only what the options need has to be there.
struct TokenContext {
  std::span<const TokenId> seen = {};    // distinct ids of the sequence, for the penalty
  std::span<const TokenId> drafts = {};  // that would stand between them and the row
  std::span<const TokenId> banned =
      {};  // may not be chosen as one of the first `banned_places` tokens
  int64_t banned_places = 0;
  int64_t place = 0;  // index of the token among those the request decides
  int known_ids = std::numeric_limits<int>::max();  // ids from here on are never drawn
};

// Probabilities over some tokens, ids ascending.
struct TokenDistribution {
  std::vector<TokenId> ids;
  std::vector<double> probabilities;

  double Of(TokenId id) const;
};

// Keeps buffers, so that nothing is allocated once it has seen a row. One call at a time. `kernels`
// outlives it.
class TokenSampler {
 public:
  explicit TokenSampler(const KernelTable& kernels) : kernels_(&kernels) {}

  // row [1, vocab]: changed by penalty and bans.
  SampledToken Sample(const SamplingOptions& options, const TokenContext& context, MatView row);

  // The same in steps, for acceptance rules. Begin takes a row and says whether there is something
  // to choose from; then what is asked is asked of that row.
  bool Begin(const SamplingOptions& options, const TokenContext& context, MatView row);
  SampledToken Chosen(Noise purpose = Noise::kPlain);
  void Distribution(TokenDistribution& out);
  SampledToken Token(TokenId id) const;  // with its probability
  // Draws from other chances than the row's own.
  SampledToken DrawFrom(const TokenDistribution& distribution, Noise purpose) const;

 private:
  struct Candidate {
    float logit;
    TokenId id;
  };

  void Penalise(const TokenContext& context);
  void Change(TokenId id, float logit);
  void KeepCandidates();
  void KeepMostLikely(size_t count);
  void KeepNucleus();
  double Weight(float logit) const;

  const KernelTable* kernels_;

  // Of the row that Begin was given.
  SamplingOptions options_;
  MatView row_;
  int64_t place_ = 0;
  int known_ids_ = 0;
  Selection raw_ = {};                                // the most likely token before all steps
  float raw_logit_ = 0;                               // and its logit
  float top_logit_ = 0;                               // the largest that is left
  TokenId top_ = 0;                                   // and whose it is
  bool collected_ = false;                            // candidates_ is filled
  std::vector<std::pair<TokenId, float>> originals_;  // of logits that were changed
  std::vector<Candidate> candidates_;                 // that are kept, ids ascending
};

}  // namespace platen
