// Windows bitmaps as scanners write them: uncompressed, palettes of 1, 4 and 8 bits, 24 and 32 bits
// per pixel, both row orders. Everything else is refused with what it is. Source of the format:
// Microsoft's BITMAPINFOHEADER and BITMAPV5HEADER documentation.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "model/support/checked.h"
#include "stages/readers/byte_view.h"
#include "stages/readers/decoders.h"
#include "stages/readers/pixels.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr uint64_t kFileHeaderBytes = 14;
constexpr uint32_t kInfoHeaderBytes = 40;
constexpr uint32_t kMaxHeaderBytes = 124;  // version 5
constexpr double kMetresPerInch = 0.0254;

struct Header {
  int64_t width = 0;
  int64_t height = 0;
  bool top_down = false;
  int bits = 0;
  uint64_t pixels_at = 0;
  double dpi_x = 0, dpi_y = 0;
  std::vector<std::array<uint8_t, 3>> palette;  // RGB, of up to 8 bits

  // Rows are padded to 4 bytes.
  uint64_t row_bytes() const { return (static_cast<uint64_t>(width) * bits + 31) / 32 * 4; }
};

// What a bitmap that is not read is; empty: it is.
std::string Unread(uint32_t header_bytes, int bits, uint32_t compression) {
  constexpr std::array kNames = {"RLE8", "RLE4", "bit fields", "JPEG inside", "PNG inside"};
  if (header_bytes < kInfoHeaderBytes || header_bytes == 64) return "OS/2 bitmap";
  if (compression > kNames.size()) return "unknown compression";
  if (compression > 0) return kNames[compression - 1];
  const bool fits = bits == 1 || bits == 4 || bits == 8 || bits == 24 || bits == 32;
  return fits ? "" : std::to_string(bits) + " bits per pixel";
}

void ReadPalette(const EncodedImage& file, uint64_t palette_at, uint32_t num_colours,
                 Header& header) {
  const uint32_t most = 1U << header.bits;
  if (num_colours == 0 || num_colours > most) num_colours = most;
  // A palette may be shorter than it could be: the pixels begin where it ends.
  if (header.pixels_at > palette_at) {
    num_colours =
        static_cast<uint32_t>(std::min<uint64_t>(num_colours, (header.pixels_at - palette_at) / 4));
  }
  if (!InRange(palette_at, num_colours * 4, file.bytes.size())) {
    ThrowCutOff(file.path, file.bytes.size(), "BMP");
  }
  for (uint64_t i = 0; i < num_colours; ++i) {
    const uint8_t* bgr = file.bytes.data() + palette_at + i * 4;
    header.palette.push_back({bgr[2], bgr[1], bgr[0]});
  }
}

Header ReadHeader(const EncodedImage& file) {
  const ByteView view(file.bytes, ByteOrder::kLittle);
  const uint32_t header_bytes = view.U32(kFileHeaderBytes);
  if (!view.Has(kFileHeaderBytes, std::min(header_bytes, kMaxHeaderBytes))) {
    ThrowCutOff(file.path, file.bytes.size(), "BMP");
  }
  const std::string unread = Unread(header_bytes, view.U16(28), view.U32(30));
  if (!unread.empty()) {
    ThrowUnreadable(file.path, "BMP: " + unread + " is not read; convert it to PNG or TIFF",
                    FailureCode::kUnsupported);
  }
  Header header;
  header.pixels_at = view.U32(10);
  header.width = view.I32(18);
  header.height = std::abs(int64_t{view.I32(22)});
  header.top_down = view.I32(22) < 0;
  header.bits = view.U16(28);
  header.dpi_x = view.U32(38) * kMetresPerInch;
  header.dpi_y = view.U32(42) * kMetresPerInch;
  if (header.bits <= 8) ReadPalette(file, kFileHeaderBytes + header_bytes, view.U32(46), header);
  return header;
}

void ReadRow(const EncodedImage& file, const Header& header, uint64_t at, uint8_t* rgb) {
  const uint8_t* row = file.bytes.data() + at;
  const int step = header.bits / 8;
  for (int64_t x = 0; x < header.width; ++x, rgb += Image::kChannels) {
    if (header.bits > 8) {
      const uint8_t* bgr = row + x * step;
      std::reverse_copy(bgr, bgr + 3, rgb);
      continue;
    }
    const int64_t bit = x * header.bits;
    const uint32_t mask = (1U << header.bits) - 1;
    const uint32_t index = row[bit / 8] >> (8 - header.bits - bit % 8) & mask;
    if (index >= header.palette.size()) {
      ThrowDamaged(file.path, at, "BMP", "a pixel's colour is not in the palette");
    }
    std::copy_n(header.palette[index].begin(), 3, rgb);
  }
}

}  // namespace

ImageSize BmpSize(const InputFile& file) {
  // The longest header with the largest palette.
  constexpr size_t kMostBytes = kFileHeaderBytes + kMaxHeaderBytes + 256 * 4;
  const std::vector<uint8_t> head = file.ReadFirst(kMostBytes);
  const Header header = ReadHeader({file.path(), head});
  return {header.width, header.height};
}

PageImage DecodeBmp(const EncodedImage& file, const ReadLimits& limits) {
  const Header header = ReadHeader(file);
  CheckPageSize(file.path, header.width, header.height, limits);
  const auto bytes = CheckedMul(header.row_bytes(), static_cast<size_t>(header.height));
  if (!bytes || !InRange(header.pixels_at, *bytes, file.bytes.size())) {
    ThrowCutOff(file.path, file.bytes.size(), "BMP");
  }
  PageImage page;
  page.image = Image(static_cast<int>(header.width), static_cast<int>(header.height));
  page.dpi_x = header.dpi_x, page.dpi_y = header.dpi_y;
  for (int i = 0; i < page.image.height; ++i) {
    const uint64_t at = header.pixels_at + header.row_bytes() * static_cast<uint64_t>(i);
    ReadRow(file, header, at, page.image.Row(header.top_down ? i : page.image.height - 1 - i));
  }
  return page;
}

}  // namespace platen
