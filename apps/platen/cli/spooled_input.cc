#include "apps/platen/cli/spooled_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "model/support/error.h"

namespace platen {
namespace {

constexpr size_t kChunkBytes = 1 << 16;

size_t ReadSome(char* to, size_t most) {
  while (true) {
    const ssize_t n = ::read(STDIN_FILENO, to, most);
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) ThrowFileError("standard input", "read", errno);
  }
}

// O_TMPFILE where the file system knows it, else a file whose name is taken away at once.
UniqueFd OpenNameless(const std::string& folder) {
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  std::string name = folder + "/platen-XXXXXX";
  fd = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) ThrowFileError(folder, "create a temporary file", errno);
  ::unlink(name.c_str());
  return fd;
}

}  // namespace

std::string ReadStandardInput(size_t most) {
  std::string bytes(most, '\0');
  size_t done = 0;
  while (done < most) {
    const size_t n = ReadSome(bytes.data() + done, most - done);
    if (n == 0) break;
    done += n;
  }
  bytes.resize(done);
  return bytes;
}

SpooledInput::SpooledInput(std::string_view head) {
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  if (error) throw Error(ErrorKind::kEnvironment, {"TMPDIR", ""}, error.message());
  WithErrorKind(ErrorKind::kEnvironment, [&] {
    fd_ = OpenNameless(folder);
    WriteAll(fd_.get(), head, folder);
    std::array<char, kChunkBytes> chunk;
    while (const size_t n = ReadSome(chunk.data(), chunk.size())) {
      WriteAll(fd_.get(), {chunk.data(), n}, folder);
    }
  });
}

std::string SpooledInput::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd_.get());
}

}  // namespace platen
