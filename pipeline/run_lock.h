// Who may write to an output folder: one run alone, or runs of shards that share no document.
#pragma once

#include "model/support/folder.h"
#include "pipeline/shard.h"

namespace platen {

// A run without a shard holds OUT/.platen/lock alone. Runs of shards share it, and each holds the
// lock in its own folder alone; shards of another number may share documents with it and must not
// run. The kernel gives the locks back, however the process ends. On a file system without locks
// there are none: the user's care.
class RunLock {
 public:
  // `common`: OUT/.platen. `own`: the shard's folder; not looked at without a shard. Throws
  // Error(kEnvironment) that says who writes and what to do.
  RunLock(const Folder& common, const Folder& own, const Shard& shard);

 private:
  UniqueFd common_;
  UniqueFd own_;
};

// True if a run holds the lock in this folder. A run that starts meanwhile is not disturbed.
bool IsLocked(const Folder& folder);

}  // namespace platen
