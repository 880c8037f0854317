// Whether trained weights may take the place of those before, by documents that training has not
// seen, by their classes, and by a general set of documents of other kinds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/training/draft_evaluation.h"

namespace platen {

enum class Verdict {
  kBetter,  // the gain is above 0 in 97.5 % of the resamples, and nothing below speaks against
  kNoGain,  // it is not: nothing, or chance
  kTooFewToTell,  // documents: fewer than kFewestDocuments
  kClassLoses,    // a class of kFewestDocuments or more loses more than kMostLoss
  kGeneralLoses,  // so does the general set
  kNotFaster,     // what the drafts gain is less than what they cost more
};
inline constexpr int kFewestDocuments = 5;
inline constexpr double kMostLoss = 0.02;  // of tokens a round

// Tokens a round of some documents.
struct GroupGain {
  std::string name;
  int documents = 0;
  double before = 0, after = 0;

  double change() const { return before > 0 ? after / before - 1 : 0; }
};

struct GateOutcome {
  Verdict verdict = Verdict::kTooFewToTell;
  Gain gain;
  std::vector<GroupGain> classes;    // by name
  std::optional<GroupGain> general;  // nothing: there was no such set
  double speed = 1;                  // tokens a second, after by before, as far as it is known
};

// Hits of the same pages before and after.
struct HitsOfSet {
  std::span<const PageHits> before, after;
};

// What a round costs besides its drafts, and each of its drafts, in any unit.
struct RoundCost {
  double target = 1;
  double draft = 0;
};

// A class is the folder that a document lies in, by its name; of documents without one, ".".
std::string ClassOf(const std::string& document);

// `general`: empty spans if there is none.
GateOutcome JudgeDrafts(const HitsOfSet& judged, const HitsOfSet& general, int drafts,
                        const RoundCost& before, const RoundCost& after, uint64_t seed);

}  // namespace platen
