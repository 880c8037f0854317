#include "stages/readers/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "model/support/grouped.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

std::string SystemMessage() { return std::generic_category().message(errno); }

}  // namespace

InputFile::InputFile(const std::string& path)
    // O_NONBLOCK: opening a named pipe must not wait for a writer.
    : path_(path), fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (fd_ < 0) {
    const bool missing = errno == ENOENT;
    ThrowUnreadable(path, "cannot open: " + SystemMessage(),
                    missing ? FailureCode::kNotFound : FailureCode::kUnreadable);
  }
  struct stat info = {};
  const bool known = fstat(fd_, &info) == 0;
  if (known && S_ISREG(info.st_mode)) {
    size_ = static_cast<uint64_t>(info.st_size);
    return;
  }
  const std::string reason =
      known ? (S_ISDIR(info.st_mode) ? "is a folder" : "is not a regular file") : SystemMessage();
  close(fd_);
  ThrowUnreadable(path, reason, FailureCode::kUnreadable);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

size_t InputFile::ReadAt(uint64_t offset, std::span<uint8_t> buffer) const {
  size_t done = 0;
  while (done < buffer.size() && offset + done < size_) {
    const ssize_t n =
        pread(fd_, buffer.data() + done, buffer.size() - done, static_cast<off_t>(offset + done));
    if (n == 0) break;
    if (n < 0) {
      if (errno == EINTR) continue;
      const std::string message = SystemMessage();
      ThrowUnreadable(path_, "cannot read at byte " + Grouped(offset + done) + ": " + message,
                      FailureCode::kUnreadable);
    }
    done += static_cast<size_t>(n);
  }
  return done;
}

std::vector<uint8_t> InputFile::ReadFirst(uint64_t max_bytes) const {
  std::vector<uint8_t> bytes(std::min(size_, max_bytes));
  bytes.resize(ReadAt(0, bytes));
  return bytes;
}

}  // namespace platen
