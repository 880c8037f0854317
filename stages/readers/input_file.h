// An input file opened for reading: a regular file with a known size.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/support/folder.h"
#include "stages/readers/left_behind.h"

namespace platen {

// Owns the descriptor; moves, never copies. Reading is thread-safe. What lies behind a
// server and is not in the system's cache is read by a thread of its own, so that one which does
// not answer costs this file alone: Error(kInput) with the code kTimeout (left_behind.h).
class InputFile {
 public:
  // Throws Error(kInput) if `path` cannot be opened or is not a regular file.
  explicit InputFile(const std::string& path, double patience_s = kUsualPatienceS);
  InputFile(InputFile&&) = default;
  InputFile& operator=(InputFile&&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }

  // Bytes read from `offset` on: buffer.size(), or fewer at the end of the file.
  // Throws Error(kInput) if the disk does not answer.
  size_t ReadAt(uint64_t offset, std::span<uint8_t> buffer) const;

  // The first `max_bytes` bytes, or all there are. Throws as ReadAt does.
  std::vector<uint8_t> ReadFirst(uint64_t max_bytes) const;

 private:
  size_t ReadSome(uint64_t offset, std::span<uint8_t> buffer) const;
  size_t ReadFromServer(off_t at, const std::string& where, std::span<uint8_t> buffer) const;
  [[noreturn]] void FailToRead(const std::string& where, int code) const;

  std::string path_;
  double patience_s_;
  bool is_on_server_;
  std::shared_ptr<const UniqueFd> fd_;  // shared with a read that does not come back
  uint64_t size_ = 0;
};

}  // namespace platen
