// The order of runs into one folder, whatever the clocks of their machines said.
#pragma once

#include <vector>

#include "apps/platen/commands/report/run_view.h"

namespace platen {

// The latest first. `parts`: the runs of each part of a job (those without a shard, those of each
// shard), the latest first. A run's number is larger than that of every run before it, but for runs
// of other shards of the same count, which it does not look at: among those start times decide.
std::vector<RunView> LatestFirst(std::vector<std::vector<RunView>> parts);

}  // namespace platen
