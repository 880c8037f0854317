// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014):
// weights and data that a program in any language can repeat.
#pragma once

#include <cstdint>

namespace platen {

class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }
  // 0 .. n - 1; n < 2^32.
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(((Next() >> 32U) * static_cast<uint64_t>(n)) >> 32U);
  }
  // In [0, 1), one of 2^53 values.
  double Uniform() { return static_cast<double>(Next() >> 11U) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace platen
