// XXH3-128 as 32 hexadecimal digits: keys and checksums of the run's own files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace platen {

inline constexpr size_t kHashHexLength = 32;

std::string HashHex(std::string_view bytes);

// Whether the text is `count` lower-case hexadecimal digits.
bool IsHex(std::string_view text, size_t count);

// XXH3-64 with a seed: the same on every machine and in every version.
uint64_t Hash64(std::string_view bytes, uint64_t seed);

// XXH64 with seed 0, which libraries of every language have: for what other programs compute too.
uint64_t Xxh64(std::string_view bytes);

// Hash of several parts; their boundaries count, so {"ab", "c"} and {"a", "bc"} differ.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void Add(std::string_view part);
  std::string Hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace platen
