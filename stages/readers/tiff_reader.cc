// TIFF through libtiff: all pages; 1 to 16 bits; gray, palette, RGB, CMYK, YCbCr, Lab; strips and
// tiles; every compression libtiff knows. Rows are decoded a strip row or a tile at a time, so that
// a page needs little more memory than its RGB image.
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string_view>

#include "stages/readers/multi_page.h"
#include "stages/readers/pixels.h"
#include "stages/readers/tiff_directories.h"

namespace platen {
namespace {

constexpr double kCentimetresPerInch = 2.54;

// What libtiff's callbacks see: the file, the read position, and the first complaints.
struct Session {
  const InputFile* file = nullptr;
  uint64_t position = 0;
  std::string error;
  std::string warning;
};

// Warnings after which pixels, or tags that decide about them, are missing.
bool MeansLostPixels(std::string_view message) {
  return message.find("IO error") != std::string_view::npos ||      // a tag
         message.find("remature EOF") != std::string_view::npos ||  // fax
         message.find("remature end") != std::string_view::npos ||  // JPEG
         (message.find("Corrupt JPEG data") != std::string_view::npos &&
          message.find("extraneous") == std::string_view::npos);
}

std::string FormatMessage(const char* format, va_list args) {
  char text[240];
  std::vsnprintf(text, sizeof(text), format, args);
  return text;
}

extern "C" {

int TiffOnError(TIFF*, void* user, const char*, const char* format, va_list args) {
  auto* session = static_cast<Session*>(user);
  if (session->error.empty()) session->error = FormatMessage(format, args);
  return 1;  // nothing is printed
}

int TiffOnWarning(TIFF*, void* user, const char*, const char* format, va_list args) {
  auto* session = static_cast<Session*>(user);
  const std::string message = FormatMessage(format, args);
  if (session->error.empty() && MeansLostPixels(message)) session->error = message;
  if (session->warning.empty()) session->warning = message;
  return 1;
}

tmsize_t TiffRead(thandle_t handle, void* buffer, tmsize_t length) {
  auto* session = static_cast<Session*>(handle);
  try {
    const size_t n = session->file->ReadAt(
        session->position, {static_cast<uint8_t*>(buffer), static_cast<size_t>(length)});
    session->position += n;
    return static_cast<tmsize_t>(n);
  } catch (const Error& error) {  // must not pass through libtiff
    session->error = error.reason();
    return -1;
  }
}

tmsize_t TiffWrite(thandle_t, void*, tmsize_t) { return -1; }

toff_t TiffSeek(thandle_t handle, toff_t offset, int whence) {
  auto* session = static_cast<Session*>(handle);
  if (whence == SEEK_CUR) offset += session->position;
  if (whence == SEEK_END) offset += session->file->size();
  session->position = offset;
  return offset;
}

int TiffClose(thandle_t) { return 0; }

toff_t TiffSize(thandle_t handle) { return static_cast<Session*>(handle)->file->size(); }

}  // extern "C"

// Facts of one page that decide how its samples become RGB.
struct PageFormat {
  uint32_t width = 0;
  uint32_t height = 0;
  uint16_t bits = 1;
  uint16_t samples = 1;  // per pixel
  uint16_t photometric = 0;
  uint16_t compression = 0;
  uint16_t sample_format = SAMPLEFORMAT_UINT;
  uint16_t orientation = ORIENTATION_TOPLEFT;
  bool planar = false;   // one plane per sample
  int alpha_index = -1;  // sample that is alpha; -1: none
  bool alpha_premultiplied = false;
  std::array<std::vector<uint8_t>, 3> palette;

  bool is_gray() const {
    return photometric == PHOTOMETRIC_MINISWHITE || photometric == PHOTOMETRIC_MINISBLACK;
  }
  size_t colour_samples() const {
    return photometric == PHOTOMETRIC_RGB ? 3 : photometric == PHOTOMETRIC_SEPARATED ? 4 : 1;
  }
};

// A page opened in libtiff.
class TiffPage {
 public:
  TiffPage(const InputFile& file, uint64_t directory_offset, const ReadLimits& limits);
  TiffPage(const TiffPage&) = delete;
  TiffPage& operator=(const TiffPage&) = delete;
  ~TiffPage() { TIFFClose(tiff_); }

  PageImage Read();

 private:
  // A piece of a row as stored: `num_pixels` pixels from (x, y) on.
  using OnRow = std::function<void(uint32_t x, uint32_t y, uint32_t num_pixels, const uint8_t*)>;

  template <class T>
  T Field(uint32_t tag, T fallback) const {
    T value = fallback;
    TIFFGetFieldDefaulted(tiff_, tag, &value);
    return value;
  }

  void ReadFormat();
  void ReadAlpha();
  void ReadPalette();
  bool NeedsLibtiffsOwnColours() const;
  void CheckSamples() const;
  void ReadResolution(PageImage& page) const;

  void ReadInterleaved(Image& image);
  void ReadPlanes(Image& image);
  void ReadThroughRgba(Image& image);
  void ForEachRow(uint16_t plane, const OnRow& on_row);
  void ForEachTileRow(uint16_t plane, const OnRow& on_row);

  void Unpack(const uint8_t* packed, size_t num_samples, uint8_t* samples) const;
  void ToRgb(const uint8_t* samples, size_t num_pixels, uint8_t* rgb) const;
  void ApplyAlpha(const uint8_t* samples, size_t num_pixels, uint8_t* rgb) const;

  [[noreturn]] void Fail(const std::string& reason) const {
    ThrowUnreadable(path_, "TIFF: " + reason);
  }
  void FailIfDamaged() const {
    if (!session_.error.empty()) Fail(session_.error);
  }

  const std::string& path_;
  const ReadLimits& limits_;
  Session session_;
  TIFF* tiff_ = nullptr;
  PageFormat format_;
};

TIFF* OpenSession(Session& session, const ReadLimits& limits) {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  if (options == nullptr) return nullptr;
  // The largest legal buffer is a tile or row of 16-bit CMYK.
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, limits.max_pixels * 8 + (1 << 20));
  TIFFOpenOptionsSetErrorHandlerExtR(options, TiffOnError, &session);
  TIFFOpenOptionsSetWarningHandlerExtR(options, TiffOnWarning, &session);
  // "h": no directory is read yet. "m": no memory mapping.
  TIFF* tiff = TIFFClientOpenExt(session.file->path().c_str(), "rhm", &session, TiffRead, TiffWrite,
                                 TiffSeek, TiffClose, TiffSize, nullptr, nullptr, options);
  TIFFOpenOptionsFree(options);
  return tiff;
}

TiffPage::TiffPage(const InputFile& file, uint64_t directory_offset, const ReadLimits& limits)
    : path_(file.path()), limits_(limits) {
  session_.file = &file;
  tiff_ = OpenSession(session_, limits);
  if (tiff_ == nullptr) Fail(session_.error.empty() ? "cannot be opened" : session_.error);
  if (TIFFSetSubDirectory(tiff_, directory_offset) == 0) {
    TIFFClose(tiff_);
    Fail(session_.error.empty() ? "the page's directory is damaged" : session_.error);
  }
}

void TiffPage::ReadFormat() {
  PageFormat& f = format_;
  f.width = Field<uint32_t>(TIFFTAG_IMAGEWIDTH, 0);
  f.height = Field<uint32_t>(TIFFTAG_IMAGELENGTH, 0);
  f.bits = Field<uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
  f.samples = Field<uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
  f.compression = Field<uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  f.sample_format = Field<uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  f.orientation = Field<uint16_t>(TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  f.planar = f.samples > 1 &&
             Field<uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  // Files without the tag are fax pages, which are black on white.
  f.photometric = Field<uint16_t>(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
  if (f.photometric == PHOTOMETRIC_YCBCR && f.compression == COMPRESSION_JPEG && !f.planar) {
    TIFFSetField(tiff_, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    f.photometric = PHOTOMETRIC_RGB;
  }
}

void TiffPage::ReadAlpha() {
  uint16_t count = 0;
  const uint16_t* types = nullptr;
  TIFFGetFieldDefaulted(tiff_, TIFFTAG_EXTRASAMPLES, &count, &types);
  if (types == nullptr || count > format_.samples) return;
  for (uint16_t i = 0; i < count; ++i) {
    if (types[i] != EXTRASAMPLE_ASSOCALPHA && types[i] != EXTRASAMPLE_UNASSALPHA) continue;
    format_.alpha_index = format_.samples - count + i;
    format_.alpha_premultiplied = types[i] == EXTRASAMPLE_ASSOCALPHA;
    return;
  }
}

void TiffPage::ReadPalette() {
  if (format_.bits > 8) Fail("palettes of more than 8 bits are not read");
  std::array<uint16_t*, 3> maps = {};
  if (TIFFGetField(tiff_, TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2]) == 0) {
    Fail("the palette is missing");
  }
  const size_t size = size_t{1} << format_.bits;
  // Some writers store 8-bit levels where 16-bit ones belong.
  const bool wide = std::any_of(maps.begin(), maps.end(), [size](const uint16_t* map) {
    return std::any_of(map, map + size, [](uint16_t level) { return level > 255; });
  });
  for (size_t c = 0; c < maps.size(); ++c) {
    for (size_t i = 0; i < size; ++i) {
      format_.palette[c].push_back(static_cast<uint8_t>(wide ? maps[c][i] >> 8 : maps[c][i]));
    }
  }
}

// Rare colour models (Lab, uncompressed or planar YCbCr, old-style JPEG) are left to libtiff.
bool TiffPage::NeedsLibtiffsOwnColours() const {
  switch (format_.photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_PALETTE:
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_SEPARATED:
      return format_.compression == COMPRESSION_OJPEG;
    default:
      return true;
  }
}

void TiffPage::CheckSamples() const {
  const PageFormat& f = format_;
  if (f.bits != 1 && f.bits != 2 && f.bits != 4 && f.bits != 8 && f.bits != 16) {
    Fail(std::to_string(f.bits) + " bits per sample are not read (1, 2, 4, 8 and 16 are)");
  }
  if (f.sample_format != SAMPLEFORMAT_UINT && f.sample_format != SAMPLEFORMAT_VOID) {
    Fail("signed and floating-point samples are not read");
  }
  if (f.samples < f.colour_samples() || f.samples > 64) {
    Fail(std::to_string(f.samples) + " samples per pixel do not fit the colour model");
  }
  if (f.photometric == PHOTOMETRIC_SEPARATED &&
      Field<uint16_t>(TIFFTAG_INKSET, INKSET_CMYK) != INKSET_CMYK) {
    Fail("inks other than CMYK are not read");
  }
}

void TiffPage::ReadResolution(PageImage& page) const {
  float x = 0;
  float y = 0;
  TIFFGetField(tiff_, TIFFTAG_XRESOLUTION, &x);
  TIFFGetField(tiff_, TIFFTAG_YRESOLUTION, &y);
  const uint16_t unit = Field<uint16_t>(TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
  const double per_inch = unit == RESUNIT_INCH         ? 1
                          : unit == RESUNIT_CENTIMETER ? kCentimetresPerInch
                                                       : 0;
  if (x > 0 && x < 1e6F) page.dpi_x = x * per_inch;
  if (y > 0 && y < 1e6F) page.dpi_y = y * per_inch;
}

PageImage TiffPage::Read() {
  ReadFormat();
  CheckPageSize(path_, format_.width, format_.height, limits_);
  const bool through_rgba = NeedsLibtiffsOwnColours();
  if (!through_rgba) {
    CheckSamples();
    ReadAlpha();
    if (format_.photometric == PHOTOMETRIC_PALETTE) ReadPalette();
  }
  PageImage page;
  page.image = Image(static_cast<int>(format_.width), static_cast<int>(format_.height));
  ReadResolution(page);
  if (through_rgba) {
    ReadThroughRgba(page.image);
  } else if (format_.planar) {
    ReadPlanes(page.image);
  } else {
    ReadInterleaved(page.image);
  }
  FailIfDamaged();
  page.warning = session_.warning;
  TurnUpright(page, format_.orientation);
  return page;
}

void TiffPage::ForEachRow(uint16_t plane, const OnRow& on_row) {
  if (TIFFIsTiled(tiff_) != 0) {
    ForEachTileRow(plane, on_row);
    return;
  }
  const tmsize_t row_bytes = TIFFScanlineSize(tiff_);
  const size_t row_samples = size_t{format_.width} * (format_.planar ? 1 : format_.samples);
  if (row_bytes <= 0 || static_cast<size_t>(row_bytes) < (row_samples * format_.bits + 7) / 8) {
    Fail("rows are too short for the colour model");
  }
  std::vector<uint8_t> row(static_cast<size_t>(row_bytes));
  for (uint32_t y = 0; y < format_.height; ++y) {
    if (TIFFReadScanline(tiff_, row.data(), y, plane) < 0) {
      Fail(session_.error.empty() ? "row " + std::to_string(y) + " is damaged" : session_.error);
    }
    FailIfDamaged();
    on_row(0, y, format_.width, row.data());
  }
}

void TiffPage::ForEachTileRow(uint16_t plane, const OnRow& on_row) {
  const uint32_t tile_width = Field<uint32_t>(TIFFTAG_TILEWIDTH, 0);
  const uint32_t tile_height = Field<uint32_t>(TIFFTAG_TILELENGTH, 0);
  CheckPageSize(path_, tile_width, tile_height, limits_);
  const tmsize_t row_bytes = TIFFTileRowSize(tiff_);
  const tmsize_t tile_bytes = TIFFTileSize(tiff_);
  const size_t row_samples = size_t{tile_width} * (format_.planar ? 1 : format_.samples);
  if (row_bytes <= 0 || static_cast<size_t>(row_bytes) < (row_samples * format_.bits + 7) / 8 ||
      tile_bytes / row_bytes < tmsize_t{tile_height}) {
    Fail("tiles are too small for the colour model");
  }
  std::vector<uint8_t> tile(static_cast<size_t>(tile_bytes));
  for (uint32_t y = 0; y < format_.height; y += tile_height) {
    for (uint32_t x = 0; x < format_.width; x += tile_width) {
      if (TIFFReadTile(tiff_, tile.data(), x, y, 0, plane) < 0) {
        Fail(session_.error.empty() ? "a tile is damaged" : session_.error);
      }
      FailIfDamaged();
      const uint32_t num_rows = std::min(tile_height, format_.height - y);
      const uint32_t num_pixels = std::min(tile_width, format_.width - x);
      for (uint32_t r = 0; r < num_rows; ++r) {
        on_row(x, y + r, num_pixels, tile.data() + static_cast<size_t>(row_bytes) * r);
      }
    }
  }
}

// RGB of the eight pixels of a byte, for 1-bit pages.
using BitTable = std::array<std::array<uint8_t, 24>, 256>;

BitTable MakeBitTable(bool min_is_white) {
  BitTable table;
  for (size_t byte = 0; byte < table.size(); ++byte) {
    for (size_t i = 0; i < table[byte].size(); ++i) {
      const bool bit = (byte >> (7 - i / 3) & 1) != 0;
      table[byte][i] = bit != min_is_white ? 255 : 0;
    }
  }
  return table;
}

void ExpandBits(const BitTable& table, const uint8_t* packed, size_t num_pixels, uint8_t* rgb) {
  for (; num_pixels >= 8; num_pixels -= 8, rgb += 24) {
    std::memcpy(rgb, table[*packed++].data(), 24);
  }
  if (num_pixels > 0) std::memcpy(rgb, table[*packed].data(), 3 * num_pixels);
}

void TiffPage::ReadInterleaved(Image& image) {
  const auto target = [&image](uint32_t x, uint32_t y) {
    return image.Row(static_cast<int>(y)) + size_t{x} * Image::kChannels;
  };
  if (format_.bits == 1 && format_.samples == 1 && format_.is_gray()) {
    const BitTable table = MakeBitTable(format_.photometric == PHOTOMETRIC_MINISWHITE);
    ForEachRow(0, [&](uint32_t x, uint32_t y, uint32_t num_pixels, const uint8_t* packed) {
      ExpandBits(table, packed, num_pixels, target(x, y));
    });
    return;
  }
  std::vector<uint8_t> samples(size_t{format_.width} * format_.samples);
  ForEachRow(0, [&](uint32_t x, uint32_t y, uint32_t num_pixels, const uint8_t* packed) {
    Unpack(packed, size_t{num_pixels} * format_.samples, samples.data());
    ToRgb(samples.data(), num_pixels, target(x, y));
  });
}

// Planes are read one after another: going back and forth would decode strips again and again.
void TiffPage::ReadPlanes(Image& image) {
  // Colours and alpha; further samples are not read.
  const size_t stride = format_.samples;
  std::vector<uint8_t> samples(size_t{format_.width} * format_.height * stride);
  std::vector<uint8_t> row(format_.width);
  for (uint16_t plane = 0; plane < format_.samples; ++plane) {
    const bool used = plane < format_.colour_samples() || plane == format_.alpha_index;
    if (!used) continue;
    ForEachRow(plane, [&](uint32_t x, uint32_t y, uint32_t num_pixels, const uint8_t* packed) {
      Unpack(packed, num_pixels, row.data());
      uint8_t* out = samples.data() + (size_t{y} * format_.width + x) * stride + plane;
      for (uint32_t i = 0; i < num_pixels; ++i) out[i * stride] = row[i];
    });
  }
  ToRgb(samples.data(), size_t{format_.width} * format_.height, image.rgb.data());
}

void TiffPage::ReadThroughRgba(Image& image) {
  TIFFRGBAImage rgba = {};
  char reason[1024] = {};
  if (TIFFRGBAImageOK(tiff_, reason) == 0 || TIFFRGBAImageBegin(&rgba, tiff_, 1, reason) == 0) {
    Fail(reason[0] != 0 ? reason : "this kind of TIFF is not read");
  }
  // Rows as stored: the page is turned upright afterwards, as for every other format.
  rgba.orientation = ORIENTATION_TOPLEFT;
  rgba.req_orientation = ORIENTATION_TOPLEFT;
  std::vector<uint32_t> raster(size_t{format_.width} * format_.height);
  const int ok = TIFFRGBAImageGet(&rgba, raster.data(), format_.width, format_.height);
  TIFFRGBAImageEnd(&rgba);
  if (ok == 0) Fail(session_.error.empty() ? "the pixels are damaged" : session_.error);
  uint8_t* out = image.rgb.data();
  for (const uint32_t pixel : raster) {
    *out++ = static_cast<uint8_t>(TIFFGetR(pixel));
    *out++ = static_cast<uint8_t>(TIFFGetG(pixel));
    *out++ = static_cast<uint8_t>(TIFFGetB(pixel));
  }
}

// Samples as stored -> one byte each: levels scaled to 0..255, palette indices as they are.
void TiffPage::Unpack(const uint8_t* packed, size_t num_samples, uint8_t* samples) const {
  const unsigned bits = format_.bits;
  if (bits == 8) {
    std::memcpy(samples, packed, num_samples);
  } else if (bits == 16) {
    // libtiff has put them into the machine's order.
    for (size_t i = 0; i < num_samples; ++i) {
      uint16_t level;
      std::memcpy(&level, packed + 2 * i, 2);
      samples[i] = static_cast<uint8_t>(level >> 8);
    }
  } else {
    const unsigned mask = (1U << bits) - 1;
    const unsigned scale = format_.photometric == PHOTOMETRIC_PALETTE ? 1 : 255 / mask;
    for (size_t i = 0; i < num_samples; ++i) {
      const size_t first_bit = i * bits;
      const unsigned level = packed[first_bit / 8] >> (8 - bits - first_bit % 8) & mask;
      samples[i] = static_cast<uint8_t>(level * scale);
    }
  }
}

// `samples`: format_.samples bytes per pixel.
void TiffPage::ToRgb(const uint8_t* samples, size_t num_pixels, uint8_t* rgb) const {
  const size_t stride = format_.samples;
  for (size_t i = 0; i < num_pixels; ++i) {
    const uint8_t* in = samples + i * stride;
    uint8_t* out = rgb + 3 * i;
    switch (format_.photometric) {
      case PHOTOMETRIC_RGB:
        std::memcpy(out, in, 3);
        break;
      case PHOTOMETRIC_SEPARATED:
        CmykToRgb(in, 1, out);
        break;
      case PHOTOMETRIC_PALETTE:
        for (size_t c = 0; c < 3; ++c) out[c] = format_.palette[c][in[0]];
        break;
      case PHOTOMETRIC_MINISWHITE:
        out[0] = out[1] = out[2] = static_cast<uint8_t>(255 - in[0]);
        break;
      default:
        out[0] = out[1] = out[2] = in[0];
        break;
    }
  }
  if (format_.alpha_index >= 0) ApplyAlpha(samples, num_pixels, rgb);
}

void TiffPage::ApplyAlpha(const uint8_t* samples, size_t num_pixels, uint8_t* rgb) const {
  const bool on_white = limits_.composite_alpha_on_white;
  if (!on_white && !format_.alpha_premultiplied) return;  // alpha is dropped
  const uint8_t* alpha = samples + format_.alpha_index;
  for (size_t i = 0; i < num_pixels; ++i, rgb += 3, alpha += format_.samples) {
    if (!format_.alpha_premultiplied) {
      const std::array<uint8_t, 4> rgba = {rgb[0], rgb[1], rgb[2], *alpha};
      RgbaOnWhite(rgba.data(), 1, rgb);
      continue;
    }
    for (int c = 0; c < 3; ++c) {
      // Premultiplied colours: add the white behind them, or divide the alpha out.
      const int value = on_white ? rgb[c] + 255 - *alpha : *alpha == 0 ? 0 : rgb[c] * 255 / *alpha;
      rgb[c] = static_cast<uint8_t>(std::min(value, 255));
    }
  }
}

class TiffReader : public DocumentReader {
 public:
  TiffReader(const std::string& path, const ReadLimits& limits)
      : path_(path),
        limits_(limits),
        pages_(ListTiffDirectories(InputFile(path), limits.max_pages)) {
    if (num_pages() == 0) ThrowUnreadable(path, "TIFF: there are no pages in the file");
  }

  DocumentFormat format() const override { return DocumentFormat::kTiff; }

  // A chain that breaks off counts as one more page, so that what is lost shows as its error.
  int num_pages() const override {
    return static_cast<int>(pages_.offsets.size()) + (pages_.damage.empty() ? 0 : 1);
  }

  PageImage ReadPage(int index) const override {
    return ReadNumberedPage(path_, index, num_pages(), [this, index] {
      const size_t i = static_cast<size_t>(index);
      if (i >= pages_.offsets.size()) ThrowUnreadable(path_, "TIFF: " + pages_.damage);
      const InputFile file(path_);
      return TiffPage(file, pages_.offsets[i], limits_).Read();
    });
  }

 private:
  std::string path_;
  ReadLimits limits_;
  TiffDirectories pages_;
};

}  // namespace

std::unique_ptr<DocumentReader> OpenTiff(const std::string& path, const ReadLimits& limits) {
  // The handlers of each open file say whether a message is printed; these are the fallback.
  [[maybe_unused]] static const bool quiet = [] {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
    return true;
  }();
  return std::make_unique<TiffReader>(path, limits);
}

}  // namespace platen
