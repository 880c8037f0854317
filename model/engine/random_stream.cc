#include "model/engine/random_stream.h"

#include "model/support/hash.h"

namespace platen {

PhiloxBlock Philox(const PhiloxBlock& counter, const std::array<uint32_t, 2>& key) {
  constexpr uint64_t kMultiplyA = 0xD2511F53U, kMultiplyB = 0xCD9E8D57U;
  constexpr uint32_t kWeylA = 0x9E3779B9U, kWeylB = 0xBB67AE85U;
  constexpr int kRounds = 10;
  PhiloxBlock c = counter;
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t a = kMultiplyA * c[0], b = kMultiplyB * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    k0 += kWeylA;
    k1 += kWeylB;
  }
  return c;
}

NoiseAt::NoiseAt(uint64_t seed, int64_t place, Noise purpose)
    : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
      place_(static_cast<uint32_t>(place)),
      purpose_(static_cast<uint32_t>(purpose)),
      block_(Philox({place_, 0, purpose_, 0}, key_)) {}

double NoiseAt::Uniform(uint32_t index) {
  if (index / 4 != block_index_) {
    block_index_ = index / 4;
    block_ = Philox({place_, block_index_, purpose_, 0}, key_);
  }
  return (static_cast<double>(block_[index % 4]) + 0.5) * 0x1p-32;
}

uint64_t RequestSeed(uint64_t run_seed, std::string_view identity) {
  return Hash64(identity, run_seed);
}

}  // namespace platen
