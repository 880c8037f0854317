// A model's folder in the hub's cache, while it is filled: the layout of model/hub/hub_cache.h,
// which the hub's own programs read and write too.
#pragma once

#include <functional>
#include <string>

#include "model/hub/model_name.h"
#include "model/hub/repository_files.h"
#include "model/support/folder.h"

namespace platen {

// A lock that other processes see; held as long as it lives.
class FileLock {
 public:
  // Waits for whoever holds it; `on_wait` is called once before. Throws FetchInterrupted.
  FileLock(const Folder& folder, const std::string& name, const std::function<void()>& on_wait);

 private:
  UniqueFd fd_;
};

// All members throw Error(kEnvironment). Not thread-safe.
class CacheWriter {
 public:
  // Makes the model's folders in `cache`, and `cache` itself.
  CacheWriter(const std::string& cache, const ModelName& model);

  const Folder& blobs() const { return blobs_; }
  const Folder& locks() const { return locks_; }

  // Whether the file's blob is there, whole.
  bool Has(const HubFile& file) const;
  // Bytes of it that an earlier download has left.
  int64_t PartialBytes(const HubFile& file) const;
  static std::string PartialName(const HubFile& file) { return file.digest + ".incomplete"; }

  // Gives the blob, which is there, its name in the snapshot.
  void Link(const std::string& commit, const HubFile& file) const;
  // Lets the branch or tag mean the commit: the last step.
  void WriteRef(const std::string& revision, const std::string& commit) const;

  int64_t FreeBytes() const;
  std::string SnapshotPath(const std::string& commit) const;

 private:
  Folder model_;
  Folder blobs_;
  Folder locks_;
};

}  // namespace platen
