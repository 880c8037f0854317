// Windows and OS/2 bitmaps: 1, 4, 8, 16, 24 and 32 bits, RLE4 and RLE8, bit fields, both row
// orders. Source of the format: Microsoft's BITMAPINFOHEADER and BITMAPV5HEADER documentation.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "model/support/checked.h"
#include "stages/readers/byte_view.h"
#include "stages/readers/decoders.h"
#include "stages/readers/pixels.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr uint64_t kFileHeaderBytes = 14;
constexpr uint32_t kCoreHeaderBytes = 12;  // OS/2 1.x
constexpr uint32_t kInfoHeaderBytes = 40;
constexpr uint32_t kMaxHeaderBytes = 124;  // version 5
constexpr double kMetresPerInch = 0.0254;

enum Compression : uint32_t {
  kRgb = 0,
  kRle8 = 1,
  kRle4 = 2,
  kBitFields = 3,
  kAlphaBitFields = 6,
};

// One colour of a pixel in bit fields.
struct Field {
  int shift = 0;
  uint32_t max = 0;  // highest value; 0: the field does not exist

  static Field FromMask(uint32_t mask) {
    if (mask == 0) return {};
    const int shift = std::countr_zero(mask);
    return {shift, mask >> shift};
  }
  // Scaled to 0..255, rounded down as Pillow does.
  uint8_t Get(uint32_t pixel) const {
    if (max == 0) return 0;
    return static_cast<uint8_t>(uint64_t{pixel >> shift & max} * 255 / max);
  }
};

struct Header {
  int64_t width = 0;
  int64_t height = 0;
  bool top_down = false;
  int bits = 0;
  uint32_t compression = kRgb;
  uint64_t pixels_at = 0;
  double dpi_x = 0;
  double dpi_y = 0;
  std::array<Field, 4> fields;                  // R G B A, of 16 and 32 bits
  std::vector<std::array<uint8_t, 3>> palette;  // RGB, of up to 8 bits

  bool is_run_length_coded() const { return compression == kRle8 || compression == kRle4; }
  // Rows are padded to 4 bytes.
  uint64_t row_bytes() const { return (static_cast<uint64_t>(width) * bits + 31) / 32 * 4; }
};

class BmpReader {
 public:
  explicit BmpReader(const EncodedImage& file)
      : path_(file.path), bytes_(file.bytes), view_(file.bytes, ByteOrder::kLittle) {}

  Header ReadHeader() const;
  // Fails if rows are missing. (Of run-length coded ones that shows only in decoding.)
  void CheckRows(const Header& header) const;
  void ReadPixels(const Header& header, bool on_white, Image& image) const;

 private:
  void ReadFields(uint32_t header_bytes, Header& header) const;
  void ReadPalette(uint32_t header_bytes, uint32_t num_colours, Header& header) const;
  void ReadPlainRow(const Header& header, uint64_t at, bool on_white, uint8_t* rgb,
                    int width) const;
  void ReadRle(const Header& header, Image& image) const;

  void SetPaletteColour(const Header& header, uint32_t index, uint64_t at, uint8_t* rgb) const {
    if (index >= header.palette.size()) Fail("a pixel's colour is not in the palette", at);
    std::copy_n(header.palette[index].begin(), 3, rgb);
  }

  [[noreturn]] void Fail(const char* what, uint64_t at) const {
    ThrowDamaged(path_, at, "BMP", what);
  }
  [[noreturn]] void FailUnread(const std::string& what) const {
    ThrowUnreadable(path_, "BMP: " + what);
  }
  [[noreturn]] void FailCutOff() const { ThrowCutOff(path_, bytes_.size(), "BMP"); }

  const std::string& path_;
  std::span<const uint8_t> bytes_;
  ByteView view_;
};

Header BmpReader::ReadHeader() const {
  const uint32_t header_bytes = view_.U32(kFileHeaderBytes);
  if (header_bytes != kCoreHeaderBytes && (header_bytes < 16 || header_bytes > kMaxHeaderBytes)) {
    Fail("unknown header length", kFileHeaderBytes);
  }
  if (!view_.Has(kFileHeaderBytes, header_bytes)) FailCutOff();
  Header header;
  header.pixels_at = view_.U32(10);
  uint32_t num_colours = 0;
  if (header_bytes == kCoreHeaderBytes) {
    header.width = view_.U16(18);
    header.height = view_.U16(20);
    header.bits = view_.U16(24);
  } else {
    header.width = view_.I32(18);
    header.height = view_.I32(22);
    header.bits = view_.U16(28);
    if (header_bytes >= kInfoHeaderBytes) {
      header.compression = view_.U32(30);
      header.dpi_x = view_.U32(38) * kMetresPerInch;
      header.dpi_y = view_.U32(42) * kMetresPerInch;
      num_colours = view_.U32(46);
    }
  }
  header.top_down = header.height < 0;
  header.height = std::abs(header.height);
  const int bits = header.bits;
  const bool rle_fits =
      (header.compression == kRle8 && bits == 8) || (header.compression == kRle4 && bits == 4);
  const bool fields_fit =
      (header.compression == kBitFields || header.compression == kAlphaBitFields) &&
      (bits == 16 || bits == 32);
  if (header.compression != kRgb && !rle_fits && !fields_fit) {
    FailUnread("unknown compression " + std::to_string(header.compression));
  }
  if (bits == 16 || bits == 32) {
    ReadFields(header_bytes, header);
  } else if (bits == 1 || bits == 2 || bits == 4 || bits == 8) {
    ReadPalette(header_bytes, num_colours, header);
  } else if (bits != 24) {
    FailUnread("unknown number of bits per pixel: " + std::to_string(bits));
  }
  return header;
}

void BmpReader::ReadFields(uint32_t header_bytes, Header& header) const {
  std::array<uint32_t, 4> masks = {0xFF0000, 0xFF00, 0xFF, 0};
  if (header.bits == 16) masks = {0x7C00, 0x3E0, 0x1F, 0};
  if (header.compression != kRgb) {
    // The masks follow the 40 bytes of the first version, inside or after the header.
    const bool has_alpha = header.compression == kAlphaBitFields || header_bytes >= 56;
    const uint64_t masks_at = kFileHeaderBytes + kInfoHeaderBytes;
    if (!view_.Has(masks_at, has_alpha ? 16 : 12)) FailCutOff();
    for (size_t i = 0; i < 3; ++i) masks[i] = view_.U32(masks_at + 4 * i);
    masks[3] = has_alpha ? view_.U32(masks_at + 12) : 0;
  }
  for (size_t i = 0; i < masks.size(); ++i) header.fields[i] = Field::FromMask(masks[i]);
}

void BmpReader::ReadPalette(uint32_t header_bytes, uint32_t num_colours, Header& header) const {
  const uint32_t most = 1U << header.bits;
  if (num_colours == 0 || num_colours > most) num_colours = most;
  const uint64_t entry_bytes = header_bytes == kCoreHeaderBytes ? 3 : 4;
  const uint64_t palette_at = kFileHeaderBytes + header_bytes;
  // A palette may be shorter than it could be: the pixels begin where it ends.
  if (header.pixels_at > palette_at) {
    num_colours = static_cast<uint32_t>(
        std::min<uint64_t>(num_colours, (header.pixels_at - palette_at) / entry_bytes));
  }
  if (!view_.Has(palette_at, num_colours * entry_bytes)) FailCutOff();
  for (uint64_t i = 0; i < num_colours; ++i) {
    const uint8_t* entry = bytes_.data() + palette_at + i * entry_bytes;
    header.palette.push_back({entry[2], entry[1], entry[0]});
  }
}

void BmpReader::CheckRows(const Header& header) const {
  if (header.is_run_length_coded()) return;
  const auto bytes = CheckedMul(header.row_bytes(), static_cast<size_t>(header.height));
  if (!bytes || !view_.Has(header.pixels_at, *bytes)) FailCutOff();
}

void BmpReader::ReadPixels(const Header& header, bool on_white, Image& image) const {
  if (header.is_run_length_coded()) {
    ReadRle(header, image);
    return;
  }
  for (int i = 0; i < image.height; ++i) {
    const uint64_t at = header.pixels_at + header.row_bytes() * static_cast<uint64_t>(i);
    const int y = header.top_down ? i : image.height - 1 - i;
    ReadPlainRow(header, at, on_white, image.Row(y), image.width);
  }
}

void BmpReader::ReadPlainRow(const Header& header, uint64_t at, bool on_white, uint8_t* rgb,
                             int width) const {
  const uint8_t* row = bytes_.data() + at;
  const std::array<Field, 4>& fields = header.fields;
  for (int x = 0; x < width; ++x, rgb += Image::kChannels) {
    if (header.bits <= 8) {
      const int first_bit = x * header.bits;
      const uint32_t mask = (1U << header.bits) - 1;
      const uint32_t index = row[first_bit / 8] >> (8 - header.bits - first_bit % 8) & mask;
      SetPaletteColour(header, index, at, rgb);
    } else if (header.bits == 24) {
      rgb[0] = row[3 * x + 2];
      rgb[1] = row[3 * x + 1];
      rgb[2] = row[3 * x];
    } else {
      const uint64_t pixel_at = at + static_cast<uint64_t>(x) * (header.bits / 8);
      const uint32_t pixel = header.bits == 16 ? view_.U16(pixel_at) : view_.U32(pixel_at);
      const std::array<uint8_t, 4> rgba = {fields[0].Get(pixel), fields[1].Get(pixel),
                                           fields[2].Get(pixel), fields[3].Get(pixel)};
      if (on_white && fields[3].max != 0) {
        RgbaOnWhite(rgba.data(), 1, rgb);
      } else {
        std::copy_n(rgba.begin(), 3, rgb);
      }
    }
  }
}

// Runs of one colour, literal runs, and jumps. Pixels that are jumped over have colour 0.
void BmpReader::ReadRle(const Header& header, Image& image) const {
  if (header.palette.empty()) Fail("no palette", kFileHeaderBytes);
  for (size_t i = 0; i < image.rgb.size(); i += 3) {
    std::copy_n(header.palette[0].begin(), 3, image.rgb.begin() + static_cast<ptrdiff_t>(i));
  }
  const bool nibbles = header.compression == kRle4;
  uint64_t at = header.pixels_at;
  int x = 0;
  int row = 0;  // in file order
  const auto put = [&](uint32_t index) {
    if (x >= image.width || row >= image.height) Fail("a run leaves the image", at);
    const int y = header.top_down ? row : image.height - 1 - row;
    SetPaletteColour(header, index, at, image.Row(y) + static_cast<ptrdiff_t>(x) * 3);
    ++x;
  };
  // Colour `i` of a run whose bytes start at `from`: one per byte, or two, the high half first.
  const auto colour = [&](uint64_t from, uint32_t i) -> uint32_t {
    if (!nibbles) return bytes_[from + i];
    return bytes_[from + i / 2] >> (i % 2 == 0 ? 4 : 0) & 15;
  };
  // Every command but a jump or an end of line writes pixels; those are bounded by the file.
  while (view_.Has(at, 2)) {
    const uint32_t count = bytes_[at];
    const uint32_t second = bytes_[at + 1];
    if (count > 0) {
      for (uint32_t i = 0; i < count; ++i) put(colour(at + 1, nibbles ? i % 2 : 0));
      at += 2;
    } else if (second == 0) {  // end of line
      x = 0;
      ++row;
      at += 2;
    } else if (second == 1) {  // end of bitmap
      return;
    } else if (second == 2) {  // jump
      if (!view_.Has(at, 4)) break;
      x += bytes_[at + 2];
      row += bytes_[at + 3];
      at += 4;
      if (x > image.width || row > image.height) Fail("a jump leaves the image", at);
    } else {  // literal run, padded to an even number of bytes
      const uint64_t length = nibbles ? (second + 1) / 2 : second;
      if (!view_.Has(at + 2, length)) break;
      for (uint32_t i = 0; i < second; ++i) put(colour(at + 2, i));
      at += 2 + length + length % 2;
    }
  }
  // Some writers leave out the end marker after the last row.
  const bool complete = row >= image.height || (row == image.height - 1 && x == image.width);
  if (!complete) FailCutOff();
}

}  // namespace

ImageSize BmpSize(const InputFile& file) {
  // The longest header with the largest palette.
  constexpr size_t kMostBytes = kFileHeaderBytes + kMaxHeaderBytes + 256 * 4;
  const std::vector<uint8_t> head = file.ReadFirst(kMostBytes);
  const Header header = BmpReader({file.path(), head}).ReadHeader();
  return {header.width, header.height};
}

PageImage DecodeBmp(const EncodedImage& file, const ReadLimits& limits) {
  const BmpReader reader(file);
  const Header header = reader.ReadHeader();
  CheckPageSize(file.path, header.width, header.height, limits);
  reader.CheckRows(header);
  PageImage page;
  page.image = Image(static_cast<int>(header.width), static_cast<int>(header.height));
  page.dpi_x = header.dpi_x;
  page.dpi_y = header.dpi_y;
  reader.ReadPixels(header, limits.composite_alpha_on_white, page.image);
  return page;
}

}  // namespace platen
