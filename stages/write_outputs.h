// Output files that are either absent, complete, or what they were before: never half written, and
// never written through a symbolic link below the output folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/folder.h"
#include "stages/formats/page_result.h"

namespace platen {

// A file that appears under its name only at Commit: written under a temporary name, synced to
// disk, renamed, and the folder synced. Without Commit nothing remains. Both folders are on the
// same file system and outlive the file.
class AtomicFile {
 public:
  // Creates `temporary_name` in `temporary` (replacing it) for what will be `name` in `folder`.
  AtomicFile(const Folder& temporary, std::string temporary_name, const Folder& folder,
             std::string name);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  // These and the constructor throw Error(kEnvironment), or Error(kInput) where only this name is
  // at fault (too long, or a folder stands in its place).
  void Append(std::string_view bytes);
  void Commit();

  int64_t bytes_written() const { return bytes_written_; }

 private:
  const Folder& temporary_;
  std::string temporary_name_;
  const Folder& folder_;
  std::string name_;
  UniqueFd fd_;
  int64_t bytes_written_ = 0;
};

struct WrittenFile {
  std::string path;
  int64_t bytes = 0;
};

// Pages of one document in order; called once per index by each format, so it should be cheap.
struct DocumentPages {
  int count = 0;
  std::function<PageResult(int index)> page;
};

// Writes `stem`.FORMAT below `root` for every format, creating folders as needed; the memory of one
// page is enough for any document. Throws as AtomicFile does; files committed before the error stay
// and are replaced on a re-run.
std::vector<WrittenFile> WriteDocument(const Folder& root, const std::string& stem,
                                       const std::vector<std::string>& formats,
                                       const DocumentInfo& info, const DocumentPages& pages,
                                       const Folder& temporary);

// Writes a small file in one go, atomically.
void WriteFileAtomically(const Folder& folder, const std::string& name, std::string_view bytes,
                         const Folder& temporary);

}  // namespace platen
