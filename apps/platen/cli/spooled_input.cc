#include "apps/platen/cli/spooled_input.h"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "model/support/error.h"
#include "model/support/nameless_file.h"

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
  constexpr const char* kName = "the copy of standard input";
  WithErrorKind(ErrorKind::kEnvironment, [&] {
    fd_ = OpenNamelessFile();
    WriteAll(fd_.get(), head, kName);
    std::array<char, kChunkBytes> chunk;
    while (const size_t n = ReadSome(chunk.data(), chunk.size())) {
      WriteAll(fd_.get(), {chunk.data(), n}, kName);
    }
  });
}

std::string SpooledInput::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd_.get());
}

}  // namespace platen
