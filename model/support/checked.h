// Arithmetic on sizes that come from outside: overflow is reported, never wrapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace platen {

// a * b, or nothing if it does not fit.
inline std::optional<size_t> CheckedMul(size_t a, size_t b) {
  size_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// a + b, or nothing if it does not fit.
inline std::optional<size_t> CheckedAdd(size_t a, size_t b) {
  size_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// True if [offset, offset + length) lies inside [0, size). Never overflows.
inline bool InRange(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

}  // namespace platen
