// SHA-256 as 64 hexadecimal digits: what a file's content is known by.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace platen {

inline constexpr size_t kSha256HexLength = 64;

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Add(std::string_view bytes);
  std::string Hex();  // of all that was added; call it once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string Sha256Hex(std::string_view bytes);

}  // namespace platen
