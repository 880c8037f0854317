// A file that is absent, complete, or what it was before, whatever happens when.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/support/folder.h"

namespace platen {

// A file that appears under its name only at Commit: written under a temporary name, synced to
// disk, renamed, and the folder synced. Without Commit nothing remains. Both folders are on the
// same file system and outlive the file. Not thread-safe.
class AtomicFile {
 public:
  // Creates `temporary_name` in `temporary` (replacing it) for what will be `name` in `folder`.
  AtomicFile(const Folder& temporary, std::string temporary_name, const Folder& folder,
             std::string name);
  // The same with a temporary file that the caller has opened for writing.
  AtomicFile(UniqueFd fd, const Folder& temporary, std::string temporary_name, const Folder& folder,
             std::string name);
  AtomicFile(AtomicFile&&) = default;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  // All of these and the first constructor throw Error(kEnvironment), a full disk included, or
  // Error(kInput) where only this name is at fault (too long, or a folder stands in its place).
  void Append(std::string_view bytes);
  void Write(uint64_t offset, std::string_view bytes);  // moves no place of Append's
  void Commit();

  // The steps of Commit, for who takes them for many files together (file_batch.h): what was
  // written is on disk; the file has its name, which is last after a sync of its folder.
  void Sync() const;
  void TakeName();
  int fd() const { return fd_.get(); }

  const std::string& temporary_name() const { return temporary_name_; }
  int64_t bytes_appended() const { return bytes_appended_; }

 private:
  const Folder& temporary_;
  std::string temporary_name_;
  const Folder& folder_;
  std::string name_;
  UniqueFd fd_;  // none after TakeName
  int64_t bytes_appended_ = 0;
};

// A new file for open(2)'s flags in the place of what has the name, which is removed: it may be a
// link, or a file that has other names too. Throws as Folder does.
UniqueFd OpenAnew(const Folder& folder, const std::string& name, int flags);

// Folder::OpenFile for a file that is added to. Of one that has other names too (hard links), the
// first `bytes` are copied before: what they name stays as it is. A hidden file beside it is used
// for that. Throws as AtomicFile does.
UniqueFd OpenOwn(const Folder& folder, const std::string& name, int flags,
                 uint64_t bytes = UINT64_MAX);

// Puts a whole file in the place of what has the name; `path` is as the user named it. The
// temporary file stands beside it under a hidden name. Throws as AtomicFile and Folder::Open do.
void ReplaceFile(const std::string& path, std::string_view bytes, Folder::Missing folder);

}  // namespace platen
