// A whole file mapped read-only, and reading a small text file with a cap.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace platen {

// Owns the mapping; moves, never copies. Views from data() live as long as the object.
// An empty file maps to an empty span. Thread-safe for reading.
class MappedFile {
 public:
  MappedFile() = default;
  // Throws Error (the given kind is kModel) naming `path` when it cannot be opened or mapped.
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> data() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  void Close() noexcept;

  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// The file's bytes. Throws Error(kModel) if it cannot be read or is larger than `max_bytes`.
std::string ReadSmallFile(const std::string& path, size_t max_bytes);

}  // namespace platen
