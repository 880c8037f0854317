#include "stages/readers/jp2_precincts.h"

#include <algorithm>

#include "stages/readers/byte_view.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr uint16_t kCodingStyle = 0xFF52;
constexpr uint16_t kComponentStyle = 0xFF53;
constexpr uint16_t kTilePart = 0xFF90;
constexpr uint16_t kData = 0xFF93;
constexpr uint16_t kEnd = 0xFFD9;

class Precincts {
 public:
  Precincts(const std::string& path, std::span<const uint8_t> codestream, const Jp2Header& header)
      : path_(path), view_(codestream, ByteOrder::kBig), header_(header) {}

  int64_t Most() {
    uint64_t at = ReadMarkers(2);
    // Tile parts say how long they are; the last may say 0.
    while (view_.U16(at) == kTilePart) {
      const uint64_t length = view_.U32(at + 6);
      ReadMarkers(at + 12);
      if (length == 0) break;
      if (length < 12) Damaged(at);
      at += length;
    }
    return most_ * static_cast<int64_t>(header_.components.size());
  }

 private:
  [[noreturn]] void Damaged(uint64_t at) const {
    ThrowDamaged(path_, header_.codestream_begin + at, "JPEG 2000", "not a legal marker");
  }

  // Markers from `at` to one that begins or ends a tile part, whose place it returns; or to the
  // end.
  uint64_t ReadMarkers(uint64_t at) {
    while (view_.Has(at, 4)) {
      const uint16_t marker = view_.U16(at);
      if (marker == kTilePart || marker == kData || marker == kEnd) break;
      const uint64_t length = view_.U16(at + 2);
      if (marker < 0xFF01 || length < 2) Damaged(at);
      if (marker == kCodingStyle) AddStyle(at, view_.U8(at + 4), at + 9);
      if (marker == kComponentStyle) AddStyle(at, view_.U8(at + 5), at + 6);
      at += 2 + length;
    }
    return at;
  }

  // `levels_at`: the number of decompositions, behind which the precincts' sizes stand as powers of
  // two, for each resolution from the smallest on.
  void AddStyle(uint64_t at, uint8_t flags, uint64_t levels_at) {
    const int levels = view_.U8(levels_at);
    if (levels > 32) Damaged(at);
    int64_t sum = 0;
    for (int r = 0; r <= levels; ++r) {
      const bool is_given = (flags & 1) != 0;
      const int size = is_given ? view_.U8(levels_at + 5 + static_cast<uint64_t>(r)) : 0xFF;
      sum += Parts(header_.Width(), levels - r + (size & 15)) *
             Parts(header_.Height(), levels - r + (size >> 4));
      sum += header_.num_tiles;  // whose edges cut precincts
    }
    most_ = std::max(most_, sum);
  }

  static int64_t Parts(int64_t side, int bits) { return (side >> std::min(bits, 40)) + 1; }

  const std::string& path_;
  const ByteView view_;
  const Jp2Header& header_;
  int64_t most_ = 0;
};

}  // namespace

int64_t MostPrecincts(const std::string& path, std::span<const uint8_t> codestream,
                      const Jp2Header& header) {
  return Precincts(path, codestream, header).Most();
}

}  // namespace platen
