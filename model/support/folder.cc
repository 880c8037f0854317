#include "model/support/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "model/support/error.h"
#include "model/support/file_call.h"

namespace platen {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
constexpr mode_t kFolderMode = 0777;
constexpr mode_t kFileMode = 0666;

// Why a name cannot be used, if it is taken by something else than is asked for.
std::string Obstacle(const struct stat& info, bool folder_wanted) {
  if (S_ISLNK(info.st_mode))
    return "is a symbolic link; nothing is read or written through one here, remove it";
  if (folder_wanted) return S_ISDIR(info.st_mode) ? "" : "a file of that name is in the way";
  if (S_ISDIR(info.st_mode)) return "a folder of that name is in the way";
  return S_ISREG(info.st_mode) ? "" : "is not a regular file";
}

[[noreturn]] void ThrowObstacle(const std::string& path, const std::string& reason) {
  throw Error(ErrorKind::kInput, {path, ""}, reason);
}

}  // namespace

void ThrowFileError(const std::string& path, const std::string& action, int code) {
  const bool only_this_name =
      code == ENAMETOOLONG || code == ENOTDIR || code == EISDIR || code == EEXIST || code == ELOOP;
  std::optional<FailureCode> failure;
  if (code == ENOENT) failure = FailureCode::kNotFound;
  throw Error(only_this_name ? ErrorKind::kInput : ErrorKind::kEnvironment, {path, ""},
              "cannot " + action + ": " + std::generic_category().message(code), failure);
}

void WriteAll(int fd, std::string_view bytes, const std::string& path, int64_t offset) {
  const FileCall call(path);
  while (!bytes.empty()) {
    const ssize_t written = offset < 0 ? ::write(fd, bytes.data(), bytes.size())
                                       : ::pwrite(fd, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ThrowFileError(path, "write", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
    if (offset >= 0) offset += written;
  }
}

std::string ReadAll(int fd, uint64_t offset, uint64_t size, const std::string& path) {
  std::string bytes(size, '\0');
  const FileCall call(path);
  for (size_t done = 0; done < size;) {
    const ssize_t n =
        ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) ThrowFileError(path, "read", n < 0 ? errno : EIO);
    done += static_cast<size_t>(n);
  }
  return bytes;
}

std::pair<std::string, std::string> SplitPath(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) ::close(fd_);
}

std::string Folder::PathOf(const std::string& name) const {
  return path_.ends_with('/') ? path_ + name : path_ + "/" + name;
}

Folder Folder::Open(const std::string& path, Missing missing) {
  const FileCall call(path);
  if (missing == Missing::kCreate) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) ThrowFileError(path, "create the folder", error.value());
  }
  UniqueFd fd(::open(path.c_str(), kFolderFlags));
  if (!fd) ThrowFileError(path, "open the folder", errno);
  return {std::move(fd), path};
}

std::pair<Folder, std::string> Folder::OpenParent(const std::string& path, Missing missing) {
  auto [parent, name] = SplitPath(path);
  if (parent.empty()) parent = path.starts_with('/') ? "/" : ".";
  return {Open(parent, missing), std::move(name)};
}

Folder Folder::Below(const std::string& relative, Missing missing) const {
  const FileCall call(path_, relative);
  UniqueFd fd(::openat(fd_.get(), ".", kFolderFlags));
  if (!fd) ThrowFileError(path_, "open the folder", errno);
  Folder folder(std::move(fd), path_);
  size_t start = 0;
  while (start < relative.size()) {
    const size_t end = std::min(relative.find('/', start), relative.size());
    if (end > start) folder = folder.Sub(relative.substr(start, end - start), missing);
    start = end + 1;
  }
  return folder;
}

Folder Folder::Sub(const std::string& name, Missing missing) const {
  const std::string path = PathOf(name);
  if (missing == Missing::kCreate && ::mkdirat(fd_.get(), name.c_str(), kFolderMode) != 0 &&
      errno != EEXIST) {
    ThrowFileError(path, "create the folder", errno);
  }
  UniqueFd fd(::openat(fd_.get(), name.c_str(), kFolderFlags | O_NOFOLLOW));
  if (fd) return {std::move(fd), path};
  const int code = errno;
  struct stat info = {};
  if (::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    const std::string obstacle = Obstacle(info, /*folder_wanted=*/true);
    if (!obstacle.empty()) ThrowObstacle(path, obstacle);
  }
  ThrowFileError(path, "open the folder", code);
}

UniqueFd Folder::OpenFile(const std::string& name, int flags) const {
  // O_NONBLOCK: opening a named pipe returns at once and is refused below; regular files ignore it.
  const int all_flags = flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const FileCall call(path_, name);
  UniqueFd fd(::openat(fd_.get(), name.c_str(), all_flags, kFileMode));
  const int code = errno;
  if (!fd && code == ENOENT && (flags & O_CREAT) == 0) return fd;
  struct stat info = {};
  const bool known = fd ? ::fstat(fd.get(), &info) == 0
                        : ::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  const std::string obstacle = known ? Obstacle(info, /*folder_wanted=*/false) : "";
  if (!obstacle.empty()) ThrowObstacle(PathOf(name), obstacle);
  if (!fd) ThrowFileError(PathOf(name), (flags & O_CREAT) != 0 ? "create" : "open", code);
  return fd;
}

std::optional<struct stat> Folder::Look(const std::string& name) const {
  const FileCall call(path_, name);
  struct stat info = {};
  if (::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) return info;
  // Nothing of that name, or that could have it. A disk that does not answer says neither.
  if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) return std::nullopt;
  ThrowFileError(PathOf(name), "look at", errno);
}

void Folder::Remove(const std::string& name) const {
  const FileCall call(path_, name);
  if (::unlinkat(fd_.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    ThrowFileError(PathOf(name), "remove", errno);
  }
}

void Folder::Rename(const std::string& name, const Folder& to, const std::string& new_name) const {
  const FileCall call(to.path_, new_name);
  if (::renameat(fd_.get(), name.c_str(), to.fd_.get(), new_name.c_str()) != 0) {
    ThrowFileError(to.PathOf(new_name), "rename into", errno);
  }
}

void Folder::Link(const std::string& name, const std::string& target) const {
  const std::string temporary = ".link-" + std::to_string(::getpid());
  Remove(temporary);
  if (::symlinkat(target.c_str(), fd_.get(), temporary.c_str()) != 0) {
    ThrowFileError(PathOf(name), "create the link", errno);
  }
  try {
    Rename(temporary, *this, name);
  } catch (const Error&) {
    Remove(temporary);
    throw;
  }
}

std::vector<std::string> Folder::Names() const {
  const FileCall call(path_);
  // A descriptor of its own: closedir closes it, and reading moves its place.
  UniqueFd fd(::openat(fd_.get(), ".", kFolderFlags));
  if (!fd) ThrowFileError(path_, "open the folder", errno);
  const auto close = [](DIR* open_stream) { ::closedir(open_stream); };
  const std::unique_ptr<DIR, decltype(close)> stream(::fdopendir(fd.get()), close);
  if (!stream) ThrowFileError(path_, "list the folder", errno);
  fd.Release();
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) ThrowFileError(path_, "list the folder", errno);
  return names;
}

void Folder::Sync() const {
  const FileCall call(path_);
  // Some file systems cannot sync folders, and say so in one of these ways.
  if (::fsync(fd_.get()) != 0 && errno != EINVAL && errno != EROFS) {
    ThrowFileError(path_, "sync", errno);
  }
}

}  // namespace platen
