#include "model/support/hash.h"

#include <xxhash.h>

#include <cstdint>
#include <new>

#include "model/support/hex.h"

namespace platen {
namespace {

std::string ToHex(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  return HexOf({reinterpret_cast<const char*>(canonical.digest), sizeof(canonical.digest)});
}

}  // namespace

struct Hasher::State {
  XXH3_state_t* xxh = nullptr;
};

std::string HashHex(std::string_view bytes) {
  return ToHex(XXH3_128bits(bytes.data(), bytes.size()));
}

bool IsHex(std::string_view text, size_t count) {
  return text.size() == count && text.find_first_not_of("0123456789abcdef") == text.npos;
}

uint64_t Hash64(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

uint64_t Xxh64(std::string_view bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

Hasher::Hasher() : state_(std::make_unique<State>()) {
  state_->xxh = XXH3_createState();
  if (state_->xxh == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_->xxh);
}

Hasher::~Hasher() { XXH3_freeState(state_->xxh); }

void Hasher::Add(std::string_view part) {
  const uint64_t size = part.size();
  XXH3_128bits_update(state_->xxh, &size, sizeof(size));
  XXH3_128bits_update(state_->xxh, part.data(), part.size());
}

std::string Hasher::Hex() const { return ToHex(XXH3_128bits_digest(state_->xxh)); }

}  // namespace platen
