#include "model/support/exclusive_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>

#include "model/support/error.h"

namespace platen {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(20);

[[noreturn]] void Fail(const std::string& path, const std::string& action, int code) {
  throw Error(ErrorKind::kEnvironment, {.file = path, .field = {}},
              "cannot " + action + ": " + std::generic_category().message(code));
}

// The name still leads to the open file: nobody renamed or removed it while we waited for the lock.
bool StillNamed(int fd, const std::string& path) {
  struct stat open_file = {};
  struct stat named = {};
  return ::fstat(fd, &open_file) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

// True once locked, false if another process holds the lock.
bool TryLock(int fd, const std::string& path) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) Fail(path, "lock", errno);
  }
  return true;
}

void SyncFolderOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) Fail(folder, "open", errno);
  const int status = ::fsync(fd);
  const int code = errno;
  ::close(fd);
  if (status != 0 && code != EINVAL) Fail(folder, "sync", code);
}

}  // namespace

std::unique_ptr<ExclusiveFile> ExclusiveFile::Begin(const std::string& path,
                                                    const Waiting& waiting) {
  const std::string temporary = path + ".tmp";
  const int fd =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
  if (fd < 0) Fail(temporary, "create", errno);
  std::unique_ptr<ExclusiveFile> file(new ExclusiveFile(path, temporary, fd));
  const auto deadline = std::chrono::steady_clock::now() + waiting.longest;
  for (bool waited = false; !TryLock(fd, temporary); waited = true) {
    if (!waited) waiting.begins();
    if (std::chrono::steady_clock::now() >= deadline) {
      throw Error(ErrorKind::kEnvironment, {.file = temporary, .field = {}},
                  "another process is still writing it");
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  // Emptying a file that was renamed meanwhile would pull it away under its readers.
  if (!StillNamed(fd, temporary)) return nullptr;
  file->ours_ = true;
  if (::ftruncate(fd, 0) != 0) Fail(temporary, "empty", errno);
  return file;
}

ExclusiveFile::~ExclusiveFile() {
  if (ours_) ::unlink(temporary_.c_str());
  ::close(fd_);
}

void ExclusiveFile::Write(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail(temporary_, "write", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
}

void ExclusiveFile::Commit() {
  if (::fsync(fd_) != 0) Fail(temporary_, "sync", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) Fail(path_, "rename into", errno);
  ours_ = false;
  SyncFolderOf(path_);
}

}  // namespace platen
