#include "model/support/digest.h"

#include <openssl/evp.h>

#include "model/support/error.h"
#include "model/support/hex.h"

namespace platen {
namespace {

void Check(int result) {
  if (result != 1) throw Error(ErrorKind::kEnvironment, {}, "OpenSSL cannot compute a checksum");
}

}  // namespace

struct Digest::State {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                  EVP_MD_CTX_free};
};

Digest::Digest(Kind kind) : state_(std::make_unique<State>()) {
  const EVP_MD* algorithm = kind == Kind::kSha256 ? EVP_sha256() : EVP_sha1();
  Check(EVP_DigestInit_ex(state_->context.get(), algorithm, nullptr));
}

Digest::~Digest() = default;

void Digest::Add(std::string_view bytes) {
  Check(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()));
}

std::string Digest::Hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  Check(EVP_DigestFinal_ex(state_->context.get(), digest, &size));
  return HexOf({reinterpret_cast<const char*>(digest), size});
}

std::string Sha256Hex(std::string_view bytes) {
  Digest digest(Digest::Kind::kSha256);
  digest.Add(bytes);
  return digest.Hex();
}

}  // namespace platen
