// An input file opened for reading: a regular file with a known size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace platen {

// Owns the descriptor; moves, never copies. Reading is thread-safe.
class InputFile {
 public:
  // Throws Error(kInput) if `path` cannot be opened or is not a regular file.
  explicit InputFile(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }

  // Bytes read from `offset` on: buffer.size(), or fewer at the end of the file.
  // Throws Error(kInput) if the disk does not answer.
  size_t ReadAt(uint64_t offset, std::span<uint8_t> buffer) const;

  // The first `max_bytes` bytes, or all there are. Throws as ReadAt does.
  std::vector<uint8_t> ReadFirst(uint64_t max_bytes) const;

 private:
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace platen
