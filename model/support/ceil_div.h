#pragma once

#include <cstdint>

namespace platen {

// a / b rounded up, for a >= 0 and b > 0 whose sum does not overflow.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace platen
