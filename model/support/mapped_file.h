// A whole file mapped read-only, and reading a small text file with a cap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace platen {

// What the file system says of a file: enough to notice that it was written to or replaced.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  int64_t modified_ns = 0;  // mtime: content
  int64_t changed_ns = 0;   // ctime: content, name or rights; cannot be set at will

  bool operator==(const FileStamp&) const = default;
};

// Of the file at `path` now; nothing if there is none.
std::optional<FileStamp> StampOf(const std::string& path);

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
  // When it was opened.
  const FileStamp& stamp() const { return stamp_; }

  // Asks for huge pages where the file system has them: for large files read again and again.
  void PreferHugePages() const noexcept;

 private:
  void Close() noexcept;

  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  FileStamp stamp_;
};

// Lets go of the memory behind a range of a mapped file, as far as whole pages lie in it. The bytes
// stay valid: they are read again when they are used again. For what is read once.
void ReleasePages(std::span<const std::byte> mapped) noexcept;

// The file's bytes. Throws Error(kModel) if it cannot be read or is larger than `max_bytes`.
std::string ReadSmallFile(const std::string& path, size_t max_bytes);

}  // namespace platen
