#include "model/support/exclusive_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "model/support/error.h"

namespace platen {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(20);

// The name still leads to the open file: nobody renamed or removed it while we waited for the lock.
bool StillNamed(int fd, const Folder& folder, const std::string& name) {
  struct stat open_file = {};
  const auto named = folder.Look(name);
  return named && ::fstat(fd, &open_file) == 0 && open_file.st_dev == named->st_dev &&
         open_file.st_ino == named->st_ino;
}

// True once locked, false if another process holds the lock.
bool TryLock(int fd, const std::string& path) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) ThrowFileError(path, "lock", errno);
  }
  return true;
}

void WaitForLock(int fd, const std::string& path, const ExclusiveFile::Waiting& waiting) {
  const auto deadline = std::chrono::steady_clock::now() + waiting.longest;
  for (bool waited = false; !TryLock(fd, path); waited = true) {
    if (!waited) waiting.begins();
    if (std::chrono::steady_clock::now() >= deadline) {
      throw Error(ErrorKind::kEnvironment, {.file = path, .field = {}},
                  "another process is still writing it");
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace

std::unique_ptr<ExclusiveFile> ExclusiveFile::Begin(const std::string& path,
                                                    const Waiting& waiting) {
  return WithErrorKind(ErrorKind::kEnvironment, [&]() -> std::unique_ptr<ExclusiveFile> {
    const std::filesystem::path whole(path);
    const std::string parent = whole.parent_path().string();
    Folder folder = Folder::Open(parent.empty() ? "." : parent, Folder::Missing::kFail);
    const std::string name = whole.filename().string();
    const std::string temporary_name = name + ".tmp";
    const std::string temporary = folder.PathOf(temporary_name);
    UniqueFd fd = folder.OpenFile(temporary_name, O_WRONLY | O_CREAT);
    WaitForLock(fd.get(), temporary, waiting);
    // Emptying a file that was renamed meanwhile would pull it away under its readers.
    if (!StillNamed(fd.get(), folder, temporary_name)) return nullptr;
    if (::ftruncate(fd.get(), 0) != 0) ThrowFileError(temporary, "empty", errno);
    return std::unique_ptr<ExclusiveFile>(
        new ExclusiveFile(std::move(folder), temporary_name, name, std::move(fd)));
  });
}

void ExclusiveFile::Write(uint64_t offset, std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  WithErrorKind(ErrorKind::kEnvironment, [&] { file_.Write(offset, text); });
}

void ExclusiveFile::Commit() {
  WithErrorKind(ErrorKind::kEnvironment, [&] { file_.Commit(); });
}

}  // namespace platen
