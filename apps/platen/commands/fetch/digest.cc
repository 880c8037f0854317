#include "apps/platen/commands/fetch/digest.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "apps/platen/cli/interrupt.h"
#include "apps/platen/commands/fetch/http_client.h"
#include "model/support/digest.h"
#include "model/support/error.h"
#include "model/support/folder.h"

namespace platen {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

}  // namespace

std::string DigestOf(const HubFile& file, int fd, const std::string& path) {
  Digest digest(file.is_large ? Digest::Kind::kSha256 : Digest::Kind::kSha1);
  if (!file.is_large) {
    struct stat info = {};
    if (::fstat(fd, &info) != 0) ThrowFileError(path, "read", errno);
    digest.Add(fmt::format("blob {}", info.st_size));
    digest.Add(std::string_view("", 1));
  }
  std::vector<char> buffer(kBufferBytes);
  for (off_t offset = 0;;) {
    if (Interrupted()) throw FetchInterrupted();
    const ssize_t read = ::pread(fd, buffer.data(), buffer.size(), offset);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) ThrowFileError(path, "read", errno);
    if (read == 0) return digest.Hex();
    digest.Add({buffer.data(), static_cast<size_t>(read)});
    offset += read;
  }
}

const char* DigestName(const HubFile& file) { return file.is_large ? "sha256" : "git sha1"; }

}  // namespace platen
