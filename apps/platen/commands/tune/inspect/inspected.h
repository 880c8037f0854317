// Recorded regions with the drafts that were made for them, and what stands out in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/training/draft_evaluation.h"

namespace platen {

// The drafts of one set of weights.
struct InspectedSide {
  std::string name;                 // "before training", "after training"
  int drafts = 0;                   // a round, at most; as many as it can make
  std::vector<PageDrafts> regions;  // of each region that is looked at
  Acceptance acceptance;            // of all of them
};
InspectedSide SideOf(std::string name, std::vector<PageDrafts> regions, int drafts);

// A draft that ended a round of decoding.
struct Miss {
  TokenId expected = 0, drafted = 0;
  int64_t count = 0;
};
// The most frequent ones of all regions, of equal ones those of smaller ids. `pages` are those of
// the side's regions.
std::vector<Miss> FrequentMisses(const std::vector<const TrainingPage*>& pages,
                                 const InspectedSide& side, size_t most);

// Places in `regions`: those in which most rounds ended with a miss, of equal ones the first.
std::vector<size_t> MostMissed(const InspectedSide& side, size_t most);

// Tokens of a region by what became of them.
struct FateCounts {
  int64_t accepted = 0, rejected = 0, target = 0;
};
FateCounts CountFates(const std::vector<TokenFate>& fates);

}  // namespace platen
