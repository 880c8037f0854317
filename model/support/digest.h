// Checksums that nobody can make two files of, as hexadecimal digits.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace platen {

inline constexpr size_t kSha256HexLength = 64;

class Digest {
 public:
  enum class Kind { kSha256, kSha1 };

  explicit Digest(Kind kind);
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void Add(std::string_view bytes);
  std::string Hex();  // of all that was added; call it once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string Sha256Hex(std::string_view bytes);

}  // namespace platen
