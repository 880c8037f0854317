#include "stages/write_outputs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "model/support/error.h"
#include "stages/formats/document_writer.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void ThrowError(const std::string& path, const std::string& action, int code) {
  const bool only_this_name =
      code == ENAMETOOLONG || code == ENOTDIR || code == EISDIR || code == EEXIST;
  throw Error(only_this_name ? ErrorKind::kInput : ErrorKind::kEnvironment,
              {DisplayName(path), ""},
              "cannot " + action + ": " + std::generic_category().message(code));
}

void WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ThrowError(path, "write", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void SyncFolder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) ThrowError(folder, "open", errno);
  const int status = ::fsync(fd);
  const int code = errno;
  ::close(fd);
  if (status != 0 && code != EINVAL && code != EROFS) ThrowError(folder, "sync", code);
}

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

AtomicFile::AtomicFile(std::string temporary, std::string path)
    : temporary_(std::move(temporary)), path_(std::move(path)) {
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) ThrowError(temporary_, "create", errno);
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::Append(std::string_view bytes) {
  WriteAll(fd_, bytes, path_);
  bytes_written_ += static_cast<int64_t>(bytes.size());
}

void AtomicFile::Commit() {
  if (::fsync(fd_) != 0) ThrowError(path_, "sync", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) ThrowError(path_, "rename into", errno);
  ::close(fd_);
  fd_ = -1;
  SyncFolder(FolderOf(path_));
}

std::vector<WrittenFile> WriteDocument(const std::string& stem,
                                       const std::vector<std::string>& formats,
                                       const DocumentInfo& info, const DocumentPages& pages,
                                       const std::string& temporary_dir) {
  CreateFolders(FolderOf(stem));
  std::vector<WrittenFile> written;
  for (const std::string& format : formats) {
    const std::string path = stem + "." + format;
    const std::unique_ptr<DocumentWriter> writer = MakeDocumentWriter(format);
    AtomicFile file(temporary_dir + "/document." + format, path);
    file.Append(writer->Begin(info));
    for (int i = 0; i < pages.count; ++i) file.Append(writer->Page(pages.page(i)));
    file.Append(writer->End());
    file.Commit();
    written.push_back({path, file.bytes_written()});
  }
  return written;
}

void WriteFileAtomically(const std::string& path, std::string_view bytes,
                         const std::string& temporary_dir) {
  AtomicFile file(temporary_dir + "/file", path);
  file.Append(bytes);
  file.Commit();
}

void CreateFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) ThrowError(path, "create the folder", error.value());
}

}  // namespace platen
