// The clock that measures how long things take.
#pragma once

#include <chrono>
#include <cstdint>

namespace platen {

// Nanoseconds since some fixed moment; never goes back. Thread-safe.
inline int64_t MonotonicNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double SecondsSince(int64_t start_ns) {
  return static_cast<double>(MonotonicNs() - start_ns) * 1e-9;
}

}  // namespace platen
