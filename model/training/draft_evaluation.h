// How often drafts are right on recorded pages, and what that means for decoding.
//
// A page tells of every slot which drafts of a chain from there would be right; decoding starts
// only at some of them. Both are given: `a` of every slot (teacher-forced), and what decoding with
// k drafts a round does, replayed exactly.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/training/engine_draft.h"

namespace platen {

// hits[d][r]: whether the draft of step d from slot prompt - 1 + r is the target's token.
struct PageHits {
  std::string document;
  int64_t answer = 0;  // tokens, stop token included
  std::vector<std::vector<uint8_t>> hits;
};

// `vocabulary`: the tokens it chooses among, ascending; empty: all.
PageHits HitsOf(const TrainingPage& page, int steps, EngineDraft& draft,
                std::span<const TokenId> vocabulary = {});

// The same with what was drafted, for people to look at: drafts[d][r] belongs to hits[d][r].
struct DraftedToken {
  TokenId token = 0;
  float probability = 0;           // that the draft gives its token
  float probability_of_label = 0;  // and the target's
};
struct PageDrafts {
  PageHits hits;
  std::vector<std::vector<DraftedToken>> drafts;
};

PageDrafts DraftsOf(const TrainingPage& page, int steps, EngineDraft& draft);

// Rounds of decoding one page, or several, with up to k drafts each.
struct Rounds {
  int64_t rounds = 0;
  int64_t tokens = 0;                // decided in them: all but the first of each page
  std::vector<int64_t> made, right;  // drafts at each place of a round, and those that were kept

  void Add(const Rounds& other);
  double tokens_per_round() const {
    return rounds == 0 ? 0 : static_cast<double>(tokens) / static_cast<double>(rounds);
  }
};
Rounds Replay(const PageHits& page, int drafts);

// How the same decoding came to a token of the answer.
struct TokenFate {
  enum class Kind {
    kTarget,    // the target's own: the first token, and those behind drafts that were all right
    kAccepted,  // the draft was right
    kRejected,  // the draft was wrong: the target's took its place
  };
  Kind kind = Kind::kTarget;
  int64_t row =
      -1;        // at which its round began; -1: of the first token, which comes with the prompt
  int step = 0;  // its place in the round
};
std::vector<TokenFate> FatesOf(const PageHits& page, int drafts);  // [answer]

// Of all pages together.
struct Acceptance {
  // Of each step d: slots whose drafts 0 .. d - 1 are right and that have a step d, and those of
  // them whose draft d is right too.
  std::vector<int64_t> tried, right;
  std::vector<Rounds> rounds;  // with 1, 2, ... drafts

  double conditional(size_t d) const {  // P(draft d right | those before it were)
    return tried[d] == 0 ? 0 : static_cast<double>(right[d]) / static_cast<double>(tried[d]);
  }
};
Acceptance AcceptanceOf(std::span<const PageHits> pages, int steps);

// Tokens per round of `after` minus those of `before` with `drafts` drafts, in resampled documents.
struct Gain {
  double mean = 0;
  double low = 0, high = 0;  // of 95 % of the resamples
  int documents = 0;
};
Gain BootstrapGain(std::span<const PageHits> before, std::span<const PageHits> after, int drafts,
                   uint64_t seed);

}  // namespace platen
