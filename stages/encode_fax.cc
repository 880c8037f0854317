#include "stages/encode_fax.h"

#include <tiffio.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "model/support/error.h"

namespace platen {
namespace {

// A file of libtiff's in memory.
struct Memory {
  std::string bytes;
  uint64_t at = 0;
};

Memory& Of(thandle_t handle) { return *static_cast<Memory*>(handle); }

tmsize_t Read(thandle_t handle, void* to, tmsize_t size) {
  Memory& m = Of(handle);
  const uint64_t there = m.at < m.bytes.size() ? m.bytes.size() - m.at : 0;
  const auto count = std::min(static_cast<uint64_t>(size), there);
  std::memcpy(to, m.bytes.data() + m.at, count);
  m.at += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t Write(thandle_t handle, void* from, tmsize_t size) {
  Memory& m = Of(handle);
  const uint64_t end = m.at + static_cast<uint64_t>(size);
  if (end > m.bytes.size()) m.bytes.resize(end);
  std::memcpy(m.bytes.data() + m.at, from, static_cast<size_t>(size));
  m.at = end;
  return size;
}

toff_t Seek(thandle_t handle, toff_t offset, int whence) {
  Memory& m = Of(handle);
  m.at = offset + (whence == SEEK_CUR ? m.at : whence == SEEK_END ? m.bytes.size() : 0);
  return m.at;
}

int Close(thandle_t) { return 0; }
toff_t Size(thandle_t handle) { return Of(handle).bytes.size(); }

struct Closer {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using Tiff = std::unique_ptr<TIFF, Closer>;

// "m": it maps nothing.
Tiff Open(Memory& memory, const char* mode) {
  memory.at = 0;
  return Tiff(
      TIFFClientOpen("fax", mode, &memory, Read, Write, Seek, Close, Size, nullptr, nullptr));
}

[[noreturn]] void Fail() {
  throw Error(ErrorKind::kEnvironment, {}, "libtiff cannot write a page as fax code");
}

// Rows of bits, black ones set; nothing: there are other colours.
std::optional<std::vector<uint8_t>> BitsOf(const Image& image) {
  const size_t row_bytes = (static_cast<size_t>(image.width) + 7) / 8;
  std::vector<uint8_t> bits(row_bytes * static_cast<size_t>(image.height), 0);
  for (int y = 0; y < image.height; ++y) {
    const uint8_t* pixel = image.Row(y);
    uint8_t* row = bits.data() + row_bytes * static_cast<size_t>(y);
    for (int x = 0; x < image.width; ++x, pixel += Image::kChannels) {
      const bool one_colour = pixel[0] == pixel[1] && pixel[0] == pixel[2];
      if (!one_colour || (pixel[0] != 0 && pixel[0] != 255)) return std::nullopt;
      if (pixel[0] == 0) row[x / 8] |= static_cast<uint8_t>(0x80 >> x % 8);
    }
  }
  return bits;
}

void WriteStrip(const Image& image, std::vector<uint8_t>& bits, Memory& memory) {
  const Tiff tiff = Open(memory, "wm");
  if (!tiff) Fail();
  TIFFSetField(tiff.get(), TIFFTAG_IMAGEWIDTH, static_cast<uint32_t>(image.width));
  TIFFSetField(tiff.get(), TIFFTAG_IMAGELENGTH, static_cast<uint32_t>(image.height));
  TIFFSetField(tiff.get(), TIFFTAG_ROWSPERSTRIP, static_cast<uint32_t>(image.height));
  TIFFSetField(tiff.get(), TIFFTAG_BITSPERSAMPLE, 1);
  TIFFSetField(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff.get(), TIFFTAG_COMPRESSION, COMPRESSION_CCITTFAX4);
  TIFFSetField(tiff.get(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
  TIFFSetField(tiff.get(), TIFFTAG_FILLORDER, FILLORDER_MSB2LSB);
  const auto size = static_cast<tmsize_t>(bits.size());
  if (TIFFWriteEncodedStrip(tiff.get(), 0, bits.data(), size) != size) Fail();
}

}  // namespace

std::optional<std::string> ToFaxCode(const Image& image) {
  std::optional<std::vector<uint8_t>> bits = BitsOf(image);
  if (!bits) return std::nullopt;
  Memory memory;
  WriteStrip(image, *bits, memory);
  const Tiff tiff = Open(memory, "rm");
  if (!tiff) Fail();
  std::string code(static_cast<size_t>(TIFFRawStripSize(tiff.get(), 0)), '\0');
  if (TIFFReadRawStrip(tiff.get(), 0, code.data(), static_cast<tmsize_t>(code.size())) < 0) Fail();
  return code;
}

}  // namespace platen
