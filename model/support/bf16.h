// bfloat16: the upper half of a float.
#pragma once

#include <bit>
#include <cstdint>

namespace platen {

// Nearest, ties to even. Magnitudes below 2^-40 become 0, so that products and sums of bf16 values
// are never denormal, which some instructions take as 0. A NaN stays
// one. Without branches: loops over it vectorise.
inline uint16_t ToBf16(float x) {
  constexpr uint32_t kLeast = (127U - 40U) << 23;
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  const uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
  const uint32_t kept = magnitude > 0x7F800000U ? bits | 0x00400000U : rounded;
  return static_cast<uint16_t>((magnitude < kLeast ? 0U : kept) >> 16);
}
inline float FromBf16(uint16_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x) << 16); }

}  // namespace platen
