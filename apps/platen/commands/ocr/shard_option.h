// --shard: which part of the documents this run reads.
#pragma once

#include <functional>

#include "apps/platen/cli/settings.h"
#include "pipeline/shard.h"

namespace platen {

// The value of an environment variable; nullptr if there is none.
using Environment = std::function<const char*(const char* name)>;

// "2/4"; "auto": task and number of tasks of a Slurm array; "auto/4": the number is given, and the
// index is the task's number in the array, or one more than JOB_COMPLETION_INDEX. Throws
// Error(kUsage) for anything else, and where the environment does not say what auto stands for.
Shard ShardFrom(const Settings& settings, const Environment& environment);

}  // namespace platen
