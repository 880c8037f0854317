#include "model/support/file_batch.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "model/support/file_call.h"

namespace platen {
namespace {

// So many are synced by one call for the whole file system; fewer by one each, which does not wait
// for what others write.
constexpr size_t kManyFiles = 8;
constexpr long kXfs = 0x58465342;

// Where syncfs(2) is known to do all that fsync(2) does. Not so on FUSE and CIFS, whose servers are
// not told.
bool SyncsAsAWhole(int fd) {
  struct statfs info = {};
  if (::fstatfs(fd, &info) != 0) return false;
  return info.f_type == EXT4_SUPER_MAGIC || info.f_type == kXfs ||
         info.f_type == BTRFS_SUPER_MAGIC || info.f_type == F2FS_SUPER_MAGIC;
}

// Asks the file alone whether its bytes have been written: an error of the file system may be
// somebody else's.
bool IsWritten(int fd) { return ::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE) == 0; }

}  // namespace

FileBatch::FileBatch(std::function<void()> before_names) : before_names_(std::move(before_names)) {}

std::string FileBatch::NextTemporaryName(const std::string& suffix) {
  return "document-" + std::to_string(++named_) + "." + suffix;
}

void FileBatch::Add(AtomicFile file, std::shared_ptr<const Folder> folder) {
  bytes_ += file.bytes_appended();
  files_.push_back({std::move(file), std::move(folder), group_});
  if (files_.size() >= kMostFiles || bytes_ >= kMostBytes) Commit();
}

void FileBatch::Commit() {
  if (files_.empty()) return;
  SyncFiles();
  if (before_names_) before_names_();
  for (Waiting& waiting : files_) {
    try {
      waiting.file.TakeName();
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::kEnvironment) throw;
      failures_.emplace(waiting.group, e);
    }
  }
  SyncFolders();
  files_.clear();
  bytes_ = 0;
}

void FileBatch::SyncFiles() const {
  const auto is_written = [](const Waiting& waiting) { return IsWritten(waiting.file.fd()); };
  const FileCall call(files_.front().folder->path());
  const int any = files_.front().file.fd();
  if (files_.size() >= kManyFiles && SyncsAsAWhole(any) && ::syncfs(any) == 0 &&
      std::all_of(files_.begin(), files_.end(), is_written)) {
    return;
  }
  for (const Waiting& waiting : files_) waiting.file.Sync();
}

void FileBatch::SyncFolders() const {
  std::set<std::string> synced;
  for (const Waiting& waiting : files_) {
    if (synced.insert(waiting.folder->path()).second) waiting.folder->Sync();
  }
}

std::optional<Error> FileBatch::TakeFailure(size_t group) {
  const auto found = failures_.find(group);
  if (found == failures_.end()) return std::nullopt;
  std::optional<Error> failure = found->second;
  failures_.erase(found);
  return failure;
}

}  // namespace platen
