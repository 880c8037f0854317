#include "stages/readers/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "model/support/grouped.h"
#include "model/support/number_text.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

// A read by another thread goes through a buffer, which it may have to be left.
constexpr size_t kMostAtOnce = 1 << 20;

std::string SystemMessage(int code) { return std::generic_category().message(code); }

[[noreturn]] void ThrowNotBack(const std::string& path, const std::string& from, double seconds) {
  ThrowUnreadable(path,
                  "the system has not come back from " + from + " for " + NumberText(seconds) +
                      " s: its server does not answer",
                  FailureCode::kTimeout);
}

struct OpenedFile {
  UniqueFd fd;
  struct stat info = {};
  int code = 0;  // why there is no descriptor, or nothing is known of it
};

OpenedFile Open(const std::string& path) {
  OpenedFile file;
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  file.fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.fd || ::fstat(file.fd.get(), &file.info) != 0) file.code = errno;
  return file;
}

struct ReadBytes {
  std::vector<uint8_t> bytes;
  ssize_t count = 0;
  int code = 0;
};

}  // namespace

InputFile::InputFile(const std::string& path, double patience_s)
    : path_(path), patience_s_(patience_s), is_on_server_(IsOnServer(path)) {
  const auto file = std::make_shared<OpenedFile>();
  const auto open = [file, path] { *file = Open(path); };
  if (!is_on_server_) {
    open();
  } else if (!ComesBack(open, patience_s)) {
    ThrowNotBack(path, "opening it", patience_s);
  }
  if (!file->fd) {
    ThrowUnreadable(path, "cannot open: " + SystemMessage(file->code),
                    file->code == ENOENT ? FailureCode::kNotFound : FailureCode::kUnreadable);
  }
  if (file->code != 0 || !S_ISREG(file->info.st_mode)) {
    ThrowUnreadable(path,
                    file->code != 0               ? SystemMessage(file->code)
                    : S_ISDIR(file->info.st_mode) ? "is a folder"
                                                  : "is not a regular file",
                    FailureCode::kUnreadable);
  }
  size_ = static_cast<uint64_t>(file->info.st_size);
  fd_ = std::make_shared<const UniqueFd>(std::move(file->fd));
}

size_t InputFile::ReadAt(uint64_t offset, std::span<uint8_t> buffer) const {
  size_t done = 0;
  while (done < buffer.size() && offset + done < size_) {
    const size_t n = ReadSome(offset + done, buffer.subspan(done));
    if (n == 0) break;
    done += n;
  }
  return done;
}

// At least a byte; none at the end of the file.
size_t InputFile::ReadSome(uint64_t offset, std::span<uint8_t> buffer) const {
  const auto at = static_cast<off_t>(offset);
  const std::string where = "at byte " + Grouped(offset);
  if (is_on_server_) {  // what the system has of it is had at once
    iovec into = {buffer.data(), buffer.size()};
    const ssize_t cached = ::preadv2(fd_->get(), &into, 1, at, RWF_NOWAIT);
    if (cached > 0) return static_cast<size_t>(cached);
    return ReadFromServer(at, where, buffer);
  }
  ssize_t n = 0;
  do {
    n = ::pread(fd_->get(), buffer.data(), buffer.size(), at);
  } while (n < 0 && errno == EINTR);
  if (n < 0) FailToRead(where, errno);
  return static_cast<size_t>(n);
}

size_t InputFile::ReadFromServer(off_t at, const std::string& where,
                                 std::span<uint8_t> buffer) const {
  const auto read = std::make_shared<ReadBytes>();
  read->bytes.resize(std::min(buffer.size(), kMostAtOnce));
  const auto call = [read, at, fd = fd_] {
    do {
      read->count = ::pread(fd->get(), read->bytes.data(), read->bytes.size(), at);
    } while (read->count < 0 && errno == EINTR);
    read->code = errno;
  };
  if (!ComesBack(call, patience_s_)) ThrowNotBack(path_, "reading it " + where, patience_s_);
  if (read->count < 0) FailToRead(where, read->code);
  std::copy_n(read->bytes.begin(), read->count, buffer.begin());
  return static_cast<size_t>(read->count);
}

void InputFile::FailToRead(const std::string& where, int code) const {
  ThrowUnreadable(path_, "cannot read " + where + ": " + SystemMessage(code),
                  FailureCode::kUnreadable);
}

std::vector<uint8_t> InputFile::ReadFirst(uint64_t max_bytes) const {
  std::vector<uint8_t> bytes(std::min(size_, max_bytes));
  bytes.resize(ReadAt(0, bytes));
  return bytes;
}

}  // namespace platen
