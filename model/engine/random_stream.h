// Random numbers with an address: a function of (seed, place, index, purpose), no state.
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). A number does
// not depend on what was drawn before, so neither batches nor speculation nor resuming change it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace platen {

using PhiloxBlock = std::array<uint32_t, 4>;
PhiloxBlock Philox(const PhiloxBlock& counter, const std::array<uint32_t, 2>& key);

// What a number is for: different purposes have independent streams.
enum class Noise : uint32_t { kPlain = 0, kAccept = 1, kResidual = 2, kDraft = 3 };

// Numbers of one place in one request.
class NoiseAt {
 public:
  // `place`: index of the token among those the request decides.
  NoiseAt(uint64_t seed, int64_t place, Noise purpose);

  // Uniform in (0, 1), one of 2^32 values; `index`: a token id, or the number of the draw. Fast if
  // indices come in ascending order.
  double Uniform(uint32_t index);

 private:
  std::array<uint32_t, 2> key_;
  uint32_t place_, purpose_;
  uint32_t block_index_ = 0;
  PhiloxBlock block_;
};

// The seed of one request: of the run's seed and what names the request (document, page, region,
// attempt), so that neither order nor resuming changes it.
uint64_t RequestSeed(uint64_t run_seed, std::string_view identity);

}  // namespace platen
