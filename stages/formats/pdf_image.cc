#include "stages/formats/pdf_image.h"

#include <cstdint>
#include <string_view>

#include "stages/formats/big_endian.h"

namespace platen {
namespace {

constexpr int64_t kLongestSide = 100'000;

std::string SizeEntries(int width, int height, int bits) {
  return "/Type /XObject /Subtype /Image /Width " + std::to_string(width) + " /Height " +
         std::to_string(height) + " /BitsPerComponent " + std::to_string(bits);
}

bool IsSide(uint32_t length) { return length > 0 && length <= kLongestSide; }

// The frame header of a JPEG, behind its length; empty: there is none that we understand.
std::string_view FrameHeader(std::string_view jpeg) {
  if (!jpeg.starts_with("\xFF\xD8")) return {};
  for (size_t at = 2; at + 4 <= jpeg.size();) {
    if (jpeg[at] != '\xFF') return {};
    const auto marker = static_cast<unsigned char>(jpeg[at + 1]);
    if (marker == 0xFF) {  // a fill byte
      ++at;
      continue;
    }
    const size_t length = BigEndian(jpeg.substr(at + 2, 2));
    if (length < 2 || length > jpeg.size() - at - 2) return {};
    // Baseline, extended and progressive; the others PDF does not know.
    if (marker >= 0xC0 && marker <= 0xC2) return jpeg.substr(at + 4, length - 2);
    const bool ends = marker == 0xD9 || marker == 0xDA;
    const bool other_frame =
        marker > 0xC2 && marker < 0xD0 && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (ends || other_frame) return {};
    at += 2 + length;
  }
  return {};
}

std::optional<PdfImage> OfJpeg(const std::string& jpeg) {
  const std::string_view frame = FrameHeader(jpeg);
  if (frame.size() < 9 || frame[0] != 8) return std::nullopt;
  const uint32_t height = BigEndian(frame.substr(1, 2)), width = BigEndian(frame.substr(3, 2));
  const int components = static_cast<unsigned char>(frame[5]);
  if (!IsSide(width) || !IsSide(height) || (components != 1 && components != 3)) {
    return std::nullopt;
  }
  if (frame.size() != 6 + 3 * static_cast<size_t>(components)) return std::nullopt;
  // Decoders take these names for RGB without a colour transform; PDF would transform them.
  if (components == 3 && frame[6] == 'R' && frame[9] == 'G' && frame[12] == 'B')
    return std::nullopt;
  const int w = static_cast<int>(width), h = static_cast<int>(height);
  return PdfImage{w, h,
                  SizeEntries(w, h, 8) + " /Filter /DCTDecode /ColorSpace " +
                      (components == 1 ? "/DeviceGray" : "/DeviceRGB"),
                  jpeg};
}

std::string Hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out = "<";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out + ">";
}

// Of a PNG: what its chunks say.
struct PngParts {
  std::string_view header;   // 13 bytes
  std::string_view palette;  // RGB
  std::string rows;          // compressed
};

std::optional<PngParts> PartsOf(std::string_view png) {
  if (!png.starts_with("\x89PNG\r\n\x1a\n")) return std::nullopt;
  PngParts parts;
  for (size_t at = 8; at + 12 <= png.size();) {
    const size_t length = BigEndian(png.substr(at, 4));
    if (length > png.size() - at - 12) return std::nullopt;
    const std::string_view name = png.substr(at + 4, 4), data = png.substr(at + 8, length);
    if (name == "IHDR" && length == 13) parts.header = data;
    if (name == "PLTE") parts.palette = data;
    if (name == "tRNS") return std::nullopt;
    if (name == "IDAT") parts.rows += data;
    if (name == "IEND") return parts;
    at += 12 + length;
  }
  return std::nullopt;
}

std::optional<PdfImage> OfPng(const std::string& png) {
  const auto parts = PartsOf(png);
  if (!parts || parts->header.size() != 13) return std::nullopt;
  const std::string_view header = parts->header;
  const uint32_t width = BigEndian(header.substr(0, 4)), height = BigEndian(header.substr(4, 4));
  const int bits = header[8], type = header[9];
  const bool bits_known = bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16;
  if (!IsSide(width) || !IsSide(height) || !bits_known || header[12] != 0 || parts->rows.empty()) {
    return std::nullopt;
  }
  std::string space;
  const size_t colours = parts->palette.size() / 3;
  if (type == 0) space = "/DeviceGray";
  if (type == 2) space = "/DeviceRGB";
  if (type == 3 && bits <= 8 && colours > 0 && colours <= size_t{1} << bits) {
    space = "[/Indexed /DeviceRGB " + std::to_string(colours - 1) + " " +
            Hex(parts->palette.substr(0, colours * 3)) + "]";
  }
  if (space.empty()) return std::nullopt;
  const int w = static_cast<int>(width), h = static_cast<int>(height);
  return PdfImage{w, h,
                  SizeEntries(w, h, bits) + " /ColorSpace " + space +
                      " /Filter /FlateDecode /DecodeParms << /Predictor 15 /Colors " +
                      (type == 2 ? "3" : "1") + " /BitsPerComponent " + std::to_string(bits) +
                      " /Columns " + std::to_string(w) + " >>",
                  parts->rows};
}

std::optional<PdfImage> OfFaxCode(const EncodedImage& image) {
  if (image.width <= 0 || image.height <= 0 || image.bytes.empty()) return std::nullopt;
  const std::string width = std::to_string(image.width), height = std::to_string(image.height);
  return PdfImage{image.width, image.height,
                  SizeEntries(image.width, image.height, 1) +
                      " /ColorSpace /DeviceGray /Filter /CCITTFaxDecode /DecodeParms << /K -1 "
                      "/Columns " +
                      width + " /Rows " + height + " >>",
                  image.bytes};
}

}  // namespace

std::optional<PdfImage> PdfImageOf(const EncodedImage& image) {
  if (image.media_type == "image/jpeg") return OfJpeg(image.bytes);
  if (image.media_type == "image/png") return OfPng(image.bytes);
  if (image.media_type == kFaxCode) return OfFaxCode(image);
  return std::nullopt;
}

}  // namespace platen
