// What drafts of recorded regions were and what became of them, as one HTML page: no scripts,
// nothing from elsewhere.
#pragma once

#include <string>
#include <vector>

#include "apps/platen/commands/tune/inspect/inspected.h"
#include "apps/platen/commands/tune/inspect/region_view.h"
#include "apps/platen/commands/tune/inspect/training_log.h"

namespace platen {

struct InspectFacts {
  std::string folder;              // for people
  std::vector<std::string> notes;  // sentences: which documents these are, which weights
  int64_t documents = 0, regions = 0;
  std::vector<InspectedSide> sides;  // one, or before and after
  std::vector<Miss> misses;          // of the last side
  TrainingCurves curves;
  std::vector<ShownRegion> shown;
  BytesOfToken bytes_of;
};

// The same bytes for the same facts.
std::string InspectPage(const InspectFacts& facts);

}  // namespace platen
