#include "pipeline/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "model/support/display_text.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr char kLockName[] = "lock";
// Whoever asks whether a lock is held holds it for a moment.
constexpr int kTries = 20;
constexpr auto kBetweenTries = std::chrono::milliseconds(10);

// False if another process holds it in a way that forbids this one.
bool Lock(const UniqueFd& file, int how) {
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(kBetweenTries);
    if (::flock(file.get(), how | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
  }
  return false;
}

[[noreturn]] void Refuse(const Folder& folder, const std::string& reason) {
  throw Error(ErrorKind::kEnvironment, {DisplayName(folder.path()), ""}, reason);
}

// Each takes its own lock before it looks at the others', so of two that start at once at least one
// sees the other.
void RefuseOtherCounts(const Folder& common, const Shard& shard) {
  for (const Shard& other : ShardsIn(common)) {
    if (other.count == shard.count) continue;
    if (!IsLocked(common.Below(ShardPath(other), Folder::Missing::kFail))) continue;
    Refuse(common, other.Text() + " is running, and would read documents of " + shard.Text() +
                       " too; wait until it has ended, or stop it, before their number changes");
  }
}

}  // namespace

RunLock::RunLock(const Folder& common, const Folder& own, const Shard& shard) {
  common_ = common.OpenFile(kLockName, O_RDWR | O_CREAT);
  if (shard.is_all()) {
    if (Lock(common_, LOCK_EX)) return;
    if (!Lock(common_, LOCK_SH)) Refuse(common, "another platen run is writing to this folder");
    Refuse(common,
           "runs with --shard are writing to this folder; wait until they have ended (platen "
           "status shows them), then run this again");
  }
  if (!Lock(common_, LOCK_SH)) {
    Refuse(common,
           "a run without --shard is writing to this folder; wait until it has ended. Runs that "
           "share a folder all take --shard K/N, with the same N");
  }
  own_ = own.OpenFile(kLockName, O_RDWR | O_CREAT);
  if (!Lock(own_, LOCK_EX)) {
    Refuse(own, "another run of " + shard.Text() + " is writing to this folder");
  }
  RefuseOtherCounts(common, shard);
}

bool IsLocked(const Folder& folder) {
  const UniqueFd file = folder.OpenFile(kLockName, O_RDONLY);
  if (!file) return false;
  return ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace platen
