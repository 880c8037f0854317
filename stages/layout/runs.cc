#include "stages/layout/runs.h"

#include <cstddef>

namespace platen::layout {

DisjointSets JoinRuns(const std::vector<Run>& runs, Connectivity connectivity) {
  const int reach = connectivity == Connectivity::kCorners ? 1 : 0;
  DisjointSets sets(runs.size());
  size_t above = 0;  // the first that may touch the current one from the row above
  for (size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    // The runs that end before this one end before all that follow it in this row.
    while (runs[above].y < run.y - 1 ||
           (runs[above].y == run.y - 1 && runs[above].x1 + reach <= run.x0)) {
      ++above;
    }
    for (size_t k = above; runs[k].y == run.y - 1 && runs[k].x0 < run.x1 + reach; ++k) {
      sets.Join(static_cast<int>(i), static_cast<int>(k));
    }
  }
  return sets;
}

}  // namespace platen::layout
