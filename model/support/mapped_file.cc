#include "model/support/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "model/support/error.h"
#include "model/support/file_call.h"
#include "model/support/folder.h"

namespace platen {
namespace {

[[noreturn]] void Fail(const std::string& path, const std::string& reason) {
  throw Error(ErrorKind::kModel, {.file = path, .field = {}}, reason);
}

// O_NONBLOCK: opening a named pipe returns at once and is refused below; regular files ignore it.
UniqueFd OpenForReading(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) Fail(path, std::string("cannot open: ") + std::strerror(errno));
  return fd;
}

// Since 1970, modulo 2^64: anybody may give a file a time after 2262.
int64_t Nanoseconds(const timespec& time) {
  return static_cast<int64_t>(static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
                              static_cast<uint64_t>(time.tv_nsec));
}

FileStamp StampFrom(const struct stat& info) {
  return {info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size), Nanoseconds(info.st_mtim),
          Nanoseconds(info.st_ctim)};
}

FileStamp RegularFileStamp(const UniqueFd& fd, const std::string& path) {
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0) Fail(path, std::string("cannot stat: ") + std::strerror(errno));
  if (!S_ISREG(info.st_mode)) Fail(path, "is not a regular file");
  return StampFrom(info);
}

}  // namespace

std::optional<FileStamp> StampOf(const std::string& path) {
  const FileCall call(path);
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return StampFrom(info);
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const UniqueFd fd = OpenForReading(path);
  stamp_ = RegularFileStamp(fd, path);
  size_ = stamp_.bytes;
  if (size_ == 0) return;
  void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (mapped == MAP_FAILED) Fail(path, std::string("cannot map: ") + std::strerror(errno));
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  Close();
  path_ = std::move(other.path_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  stamp_ = std::exchange(other.stamp_, {});
  return *this;
}

MappedFile::~MappedFile() { Close(); }

// Advice only: the kernel may know neither huge pages nor this file system's.
void MappedFile::PreferHugePages() const noexcept {
  if (data_ != nullptr) madvise(const_cast<std::byte*>(data_), size_, MADV_HUGEPAGE);
}

void MappedFile::Close() noexcept {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
  data_ = nullptr;
  size_ = 0;
}

void ReleasePages(std::span<const std::byte> mapped) noexcept {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<uintptr_t>(mapped.data());
  const uintptr_t begin = (first + page - 1) / page * page;
  const uintptr_t end = (first + mapped.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

std::string ReadSmallFile(const std::string& path, size_t max_bytes) {
  const UniqueFd fd = OpenForReading(path);
  const size_t size = RegularFileStamp(fd, path).bytes;
  if (size > max_bytes) {
    Fail(path, "is " + std::to_string(size) + " bytes, more than the limit of " +
                   std::to_string(max_bytes));
  }
  std::string text(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(fd.get(), text.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) Fail(path, "cannot read: file ends early or read failed");
    done += static_cast<size_t>(got);
  }
  return text;
}

}  // namespace platen
