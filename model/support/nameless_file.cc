#include "model/support/nameless_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "model/support/error.h"

namespace platen {

// O_TMPFILE where the file system knows it, else a file whose name is taken away at once.
UniqueFd OpenNamelessFile() {
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  if (error) throw Error(ErrorKind::kEnvironment, {"TMPDIR", ""}, error.message());
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  std::string name = folder + "/platen-XXXXXX";
  fd = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) {
    throw Error(ErrorKind::kEnvironment, {folder, ""},
                "cannot create a temporary file: " + std::generic_category().message(errno));
  }
  ::unlink(name.c_str());
  return fd;
}

UniqueFd OpenNamelessFile(const Folder& folder) {
  static std::atomic<uint64_t> count = 0;
  const std::string name = "nameless-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  UniqueFd fd = folder.OpenFile(name, O_CREAT | O_EXCL | O_RDWR);
  folder.Remove(name);
  return fd;
}

}  // namespace platen
