// Unsigned numbers in a block of bytes, in a given byte order.
#pragma once

#include <cstdint>
#include <span>

#include "model/support/checked.h"

namespace platen {

enum class ByteOrder { kLittle, kBig };

// Views bytes it does not own. Numbers outside the block (wholly or in part) are 0: callers that
// care check Has() first.
class ByteView {
 public:
  ByteView(std::span<const uint8_t> bytes, ByteOrder order) : bytes_(bytes), order_(order) {}

  bool Has(uint64_t at, uint64_t length) const { return InRange(at, length, bytes_.size()); }
  uint16_t U16(uint64_t at) const { return static_cast<uint16_t>(Read(at, 2)); }
  uint32_t U32(uint64_t at) const { return static_cast<uint32_t>(Read(at, 4)); }
  uint64_t U64(uint64_t at) const { return Read(at, 8); }
  uint8_t U8(uint64_t at) const { return static_cast<uint8_t>(Read(at, 1)); }
  int32_t I32(uint64_t at) const { return static_cast<int32_t>(U32(at)); }

 private:
  uint64_t Read(uint64_t at, uint64_t length) const {
    if (!Has(at, length)) return 0;
    uint64_t value = 0;
    for (uint64_t i = 0; i < length; ++i) {
      value = value << 8 | bytes_[at + (order_ == ByteOrder::kBig ? i : length - 1 - i)];
    }
    return value;
  }

  std::span<const uint8_t> bytes_;
  ByteOrder order_;
};

}  // namespace platen
