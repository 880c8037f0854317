// Files that appear under their names together: many for the price of a few syncs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/support/atomic_file.h"
#include "model/support/error.h"
#include "model/support/folder.h"

namespace platen {

// Each file is an AtomicFile that waits: absent, complete, or what it was before, whatever happens
// when. A disk syncs a batch in little more time than one file. Not thread-safe.
class FileBatch {
 public:
  // As many wait at the most, each with an open descriptor, and so many bytes in the system's
  // cache.
  static constexpr size_t kMostFiles = 64;
  static constexpr int64_t kMostBytes = int64_t{64} << 20;

  // `before_names` is called when the files are on disk and none has its name yet.
  explicit FileBatch(std::function<void()> before_names = {});

  // Files that are added from now on belong together. Returns the number of the group.
  size_t BeginGroup() { return ++group_; }

  // For the temporary file of the next one.
  std::string NextTemporaryName(const std::string& suffix);

  // Takes a file that is complete, and commits all if there are enough. `folder` is where it will
  // be. Throws as Commit does.
  void Add(AtomicFile file, std::shared_ptr<const Folder> folder);

  size_t size() const { return files_.size(); }

  // All that wait are synced, get their names, and the folders are synced. A name that cannot be
  // had is the failure of its group; everything else is thrown: Error(kEnvironment).
  void Commit();

  // Why a file of the group did not get its name; nothing: all did that have been committed.
  std::optional<Error> TakeFailure(size_t group);

 private:
  struct Waiting {
    AtomicFile file;
    std::shared_ptr<const Folder> folder;
    size_t group = 0;
  };

  void SyncFiles() const;
  void SyncFolders() const;

  std::function<void()> before_names_;
  std::vector<Waiting> files_;
  int64_t bytes_ = 0;
  size_t group_ = 0, named_ = 0;
  std::map<size_t, Error> failures_;  // the first of each group
};

}  // namespace platen
