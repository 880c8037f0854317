// Output files that are either absent, complete, or what they were before: never half written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stages/formats/page_result.h"

namespace platen {

// A file that appears under its name only at Commit: written under a temporary name, synced to disk,
// renamed, and the folder synced. Without Commit nothing remains.
// The temporary file and the final one must be on the same file system.
class AtomicFile {
 public:
  // Creates `temporary` (replacing it). Throws Error(kEnvironment).
  AtomicFile(std::string temporary, std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  // Both throw Error(kEnvironment), or Error(kInput) where only this name is at fault (too long, or
  // a folder stands in its place).
  void Append(std::string_view bytes);
  void Commit();

  int64_t bytes_written() const { return bytes_written_; }

 private:
  std::string temporary_;
  std::string path_;
  int fd_ = -1;
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

// Writes `stem`.FORMAT for every format, creating folders as needed; the memory of one page is
// enough for any document. `temporary_dir` exists and is on the file system of `stem`.
// Throws as AtomicFile does; files committed before the error stay and are replaced on a re-run.
std::vector<WrittenFile> WriteDocument(const std::string& stem,
                                       const std::vector<std::string>& formats,
                                       const DocumentInfo& info, const DocumentPages& pages,
                                       const std::string& temporary_dir);

// Writes a small file in one go, atomically, in the folder of `path`.
void WriteFileAtomically(const std::string& path, std::string_view bytes,
                         const std::string& temporary_dir);

// Creates a folder and its parents. Throws Error(kEnvironment), or Error(kInput) where a file or a
// name too long is in the way.
void CreateFolders(const std::string& path);

}  // namespace platen
