// Ink as runs of pixels.
#pragma once

#include <vector>

#include "stages/layout/disjoint_sets.h"

namespace platen::layout {

// Ink in the columns [x0, x1) of the row y.
struct Run {
  int y = 0, x0 = 0, x1 = 0;
};

// What joins two pixels: a common side, or a common corner too.
enum class Connectivity { kSides, kCorners };

// The runs that hang together. `runs`: by row, then from the left, none touching another of its
// row.
DisjointSets JoinRuns(const std::vector<Run>& runs, Connectivity connectivity);

}  // namespace platen::layout
