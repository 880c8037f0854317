#include "apps/platen/commands/fetch/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "apps/platen/cli/interrupt.h"
#include "apps/platen/commands/fetch/http_client.h"
#include "model/support/error.h"
#include "model/support/folder.h"

namespace platen {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

class Digest {
 public:
  explicit Digest(const EVP_MD* kind) { Check(EVP_DigestInit_ex(context_.get(), kind, nullptr)); }

  void Add(std::string_view bytes) {
    Check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
  }

  std::string Hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    Check(EVP_DigestFinal_ex(context_.get(), digest, &size));
    std::string text;
    for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
  }

 private:
  static void Check(int result) {
    if (result != 1) throw Error(ErrorKind::kEnvironment, {}, "OpenSSL cannot compute a checksum");
  }

  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free};
};

}  // namespace

std::string DigestOf(const HubFile& file, int fd, const std::string& path) {
  Digest digest(file.is_large ? EVP_sha256() : EVP_sha1());
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
