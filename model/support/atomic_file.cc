#include "model/support/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "model/support/error.h"
#include "model/support/file_call.h"

namespace platen {
AtomicFile::AtomicFile(const Folder& temporary, std::string temporary_name, const Folder& folder,
                       std::string name)
    : AtomicFile(OpenAnew(temporary, temporary_name, O_WRONLY), temporary, temporary_name, folder,
                 std::move(name)) {}

AtomicFile::AtomicFile(UniqueFd fd, const Folder& temporary, std::string temporary_name,
                       const Folder& folder, std::string name)
    : temporary_(temporary),
      temporary_name_(std::move(temporary_name)),
      folder_(folder),
      name_(std::move(name)),
      fd_(std::move(fd)) {}

AtomicFile::~AtomicFile() {
  if (!fd_) return;
  try {
    temporary_.Remove(temporary_name_);
  } catch (const Error&) {  // replaced when the file is written the next time
  }
}

void AtomicFile::Append(std::string_view bytes) {
  WriteAll(fd_.get(), bytes, folder_.PathOf(name_));
  bytes_appended_ += static_cast<int64_t>(bytes.size());
}

void AtomicFile::Write(uint64_t offset, std::string_view bytes) {
  WriteAll(fd_.get(), bytes, folder_.PathOf(name_), static_cast<int64_t>(offset));
}

void AtomicFile::Commit() {
  Sync();
  TakeName();
  folder_.Sync();
}

void AtomicFile::Sync() const {
  const FileCall call(folder_.path(), name_);
  if (::fsync(fd_.get()) != 0) ThrowFileError(folder_.PathOf(name_), "sync", errno);
}

void AtomicFile::TakeName() {
  temporary_.Rename(temporary_name_, folder_, name_);
  fd_ = UniqueFd();
}

UniqueFd OpenAnew(const Folder& folder, const std::string& name, int flags) {
  folder.Remove(name);
  return folder.OpenFile(name, flags | O_CREAT | O_EXCL);
}

UniqueFd OpenOwn(const Folder& folder, const std::string& name, int flags, uint64_t bytes) {
  UniqueFd file = folder.OpenFile(name, flags);
  struct stat info = {};
  if (!file || ::fstat(file.get(), &info) != 0 || info.st_nlink <= 1) return file;
  constexpr uint64_t kChunk = 1 << 20;
  bytes = std::min(bytes, static_cast<uint64_t>(info.st_size));
  AtomicFile copy(folder, ".own-" + name, folder, name);
  for (uint64_t done = 0; done < bytes; done += kChunk) {
    copy.Append(ReadAll(file.get(), done, std::min(kChunk, bytes - done), folder.PathOf(name)));
  }
  copy.Commit();
  return folder.OpenFile(name, flags);
}

void ReplaceFile(const std::string& path, std::string_view bytes, Folder::Missing folder) {
  const auto [parent, name] = Folder::OpenParent(path, folder);
  AtomicFile file(parent, "." + name + ".new", parent, name);
  file.Append(bytes);
  file.Commit();
}

}  // namespace platen
