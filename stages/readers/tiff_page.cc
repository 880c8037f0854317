// TIFF pages through libtiff: 1 to 16 bits; gray, palette, RGB, CMYK, YCbCr, Lab; strips and tiles;
// every compression libtiff knows. Rows are decoded one at a time, or tile by tile, so that a page
// needs little more memory than its RGB image.
#include "stages/readers/tiff_page.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "stages/readers/pixels.h"
#include "stages/readers/tiff_samples.h"
#include "stages/readers/tiff_session.h"

namespace platen {
namespace {

constexpr double kCentimetresPerInch = 2.54;
constexpr float kMaxResolution = 1e6F;

class TiffPage {
 public:
  TiffPage(const InputFile& file, const TiffDirectory& directory, const ReadLimits& limits)
      : session_(file, directory.offset, MostBytesFor(directory.size)),
        limits_(limits),
        max_buffer_bytes_(MostBytesFor(directory.size)) {}

  PageImage Read();

 private:
  // A piece of a row as stored: `num_pixels` pixels from (x, y) on.
  using OnRow = std::function<void(uint32_t x, uint32_t y, uint32_t num_pixels, const uint8_t*)>;

  void ReadFormat();
  void CheckFormat() const;
  void ReadAlpha();
  void ReadPalette();
  bool NeedsLibtiffsOwnColours() const;
  void ReadResolution(PageImage& page) const;

  void ReadInterleaved(Image& image);
  void ReadPlanes(Image& image);
  void ReadThroughRgba(Image& image);
  void ForEachRow(uint16_t plane, const OnRow& on_row);
  void ForEachTileRow(uint16_t plane, const OnRow& on_row);
  // Samples of `num_pixels` pixels that are stored side by side.
  size_t RowSamples(uint32_t num_pixels) const {
    return size_t{num_pixels} * (planar_ ? 1 : samples_.per_pixel);
  }

  TiffSession session_;
  const ReadLimits& limits_;
  int64_t max_buffer_bytes_;
  uint32_t width_ = 0;
  uint32_t height_ = 0;
  uint16_t compression_ = COMPRESSION_NONE;
  bool planar_ = false;  // one plane per sample
  TiffSamples samples_;
};

void TiffPage::ReadFormat() {
  const TiffSession& s = session_;
  width_ = s.Field<uint32_t>(TIFFTAG_IMAGEWIDTH, 0);
  height_ = s.Field<uint32_t>(TIFFTAG_IMAGELENGTH, 0);
  compression_ = s.Field<uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  samples_.bits = s.Field<uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
  samples_.per_pixel = s.Field<uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
  samples_.alpha_on_white = limits_.composite_alpha_on_white;
  planar_ = samples_.per_pixel > 1 &&
            s.Field<uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  // Files without the tag are fax pages, which are black on white.
  samples_.photometric = s.Field<uint16_t>(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
  if (samples_.photometric == PHOTOMETRIC_YCBCR && compression_ == COMPRESSION_JPEG && !planar_) {
    TIFFSetField(s.tiff(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    samples_.photometric = PHOTOMETRIC_RGB;
  }
}

// Rare colour models (Lab, uncompressed or planar YCbCr, old-style JPEG) are left to libtiff.
bool TiffPage::NeedsLibtiffsOwnColours() const {
  switch (samples_.photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_PALETTE:
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_SEPARATED:
      return compression_ == COMPRESSION_OJPEG;
    default:
      return true;
  }
}

void TiffPage::CheckFormat() const {
  constexpr uint16_t kBits[] = {1, 2, 4, 8, 16};
  if (std::find(std::begin(kBits), std::end(kBits), samples_.bits) == std::end(kBits)) {
    session_.Fail(std::to_string(samples_.bits) +
                  " bits per sample are not read (1, 2, 4, 8 and 16 are)");
  }
  const auto format = session_.Field<uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  if (format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID) {
    session_.Fail("signed and floating-point samples are not read");
  }
  constexpr uint16_t kMaxSamples = 64;
  if (samples_.per_pixel < samples_.colours() || samples_.per_pixel > kMaxSamples) {
    session_.Fail(std::to_string(samples_.per_pixel) +
                  " samples per pixel do not fit the colour model");
  }
  if (samples_.photometric == PHOTOMETRIC_SEPARATED &&
      session_.Field<uint16_t>(TIFFTAG_INKSET, INKSET_CMYK) != INKSET_CMYK) {
    session_.Fail("inks other than CMYK are not read");
  }
}

void TiffPage::ReadAlpha() {
  uint16_t count = 0;
  const uint16_t* types = nullptr;
  TIFFGetFieldDefaulted(session_.tiff(), TIFFTAG_EXTRASAMPLES, &count, &types);
  if (types == nullptr || count > samples_.per_pixel - samples_.colours()) return;
  for (uint16_t i = 0; i < count; ++i) {
    if (types[i] != EXTRASAMPLE_ASSOCALPHA && types[i] != EXTRASAMPLE_UNASSALPHA) continue;
    samples_.alpha_index = samples_.per_pixel - count + i;
    samples_.alpha_premultiplied = types[i] == EXTRASAMPLE_ASSOCALPHA;
    return;
  }
}

void TiffPage::ReadPalette() {
  if (samples_.bits > 8) session_.Fail("palettes of more than 8 bits are not read");
  std::array<uint16_t*, 3> maps = {};
  if (TIFFGetField(session_.tiff(), TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2]) == 0) {
    session_.Fail("the palette is missing");
  }
  const size_t size = size_t{1} << samples_.bits;
  // Some writers store 8-bit levels where 16-bit ones belong.
  const bool wide = std::any_of(maps.begin(), maps.end(), [size](const uint16_t* map) {
    return std::any_of(map, map + size, [](uint16_t level) { return level > 255; });
  });
  for (size_t c = 0; c < maps.size(); ++c) {
    for (size_t i = 0; i < size; ++i) {
      samples_.palette[c].push_back(static_cast<uint8_t>(wide ? maps[c][i] >> 8 : maps[c][i]));
    }
  }
}

void TiffPage::ReadResolution(PageImage& page) const {
  float x = 0;
  float y = 0;
  TIFFGetField(session_.tiff(), TIFFTAG_XRESOLUTION, &x);
  TIFFGetField(session_.tiff(), TIFFTAG_YRESOLUTION, &y);
  const auto unit = session_.Field<uint16_t>(TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
  if (unit == RESUNIT_NONE) return;
  const double per_inch = unit == RESUNIT_CENTIMETER ? kCentimetresPerInch : 1;
  if (x > 0 && x < kMaxResolution) page.dpi_x = x * per_inch;
  if (y > 0 && y < kMaxResolution) page.dpi_y = y * per_inch;
}

PageImage TiffPage::Read() {
  ReadFormat();
  CheckPageSize(session_.path(), width_, height_, limits_);
  const bool through_rgba = NeedsLibtiffsOwnColours();
  if (!through_rgba) {
    CheckFormat();
    ReadAlpha();
    if (samples_.photometric == PHOTOMETRIC_PALETTE) ReadPalette();
  }
  PageImage page;
  page.image = Image(static_cast<int>(width_), static_cast<int>(height_));
  ReadResolution(page);
  if (through_rgba) {
    ReadThroughRgba(page.image);
  } else if (planar_) {
    ReadPlanes(page.image);
  } else {
    ReadInterleaved(page.image);
  }
  session_.FailIfDamaged();
  page.warning = session_.warning();
  TurnUpright(page, session_.Field<uint16_t>(TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT));
  return page;
}

void TiffPage::ForEachRow(uint16_t plane, const OnRow& on_row) {
  TIFF* const tiff = session_.tiff();
  if (TIFFIsTiled(tiff) != 0) {
    ForEachTileRow(plane, on_row);
    return;
  }
  const tmsize_t row_bytes = TIFFScanlineSize(tiff);
  if (row_bytes <= 0 || static_cast<size_t>(row_bytes) < samples_.PackedBytes(RowSamples(width_))) {
    session_.Fail("rows are too short for the colour model");
  }
  std::vector<uint8_t> row(static_cast<size_t>(row_bytes));
  for (uint32_t y = 0; y < height_; ++y) {
    if (TIFFReadScanline(tiff, row.data(), y, plane) < 0) {
      session_.FailDamaged("row " + std::to_string(y) + " is damaged");
    }
    session_.FailIfDamaged();
    on_row(0, y, width_, row.data());
  }
}

void TiffPage::ForEachTileRow(uint16_t plane, const OnRow& on_row) {
  TIFF* const tiff = session_.tiff();
  const auto tile_width = session_.Field<uint32_t>(TIFFTAG_TILEWIDTH, 0);
  const auto tile_height = session_.Field<uint32_t>(TIFFTAG_TILELENGTH, 0);
  CheckPageSize(session_.path(), tile_width, tile_height, limits_);
  const tmsize_t row_bytes = TIFFTileRowSize(tiff);
  const tmsize_t tile_bytes = TIFFTileSize(tiff);
  if (row_bytes <= 0 ||
      static_cast<size_t>(row_bytes) < samples_.PackedBytes(RowSamples(tile_width)) ||
      tile_bytes / row_bytes < tmsize_t{tile_height}) {
    session_.Fail("tiles are too small for the colour model");
  }
  if (tile_bytes > max_buffer_bytes_) session_.Fail("tiles are far larger than the page");
  std::vector<uint8_t> tile(static_cast<size_t>(tile_bytes));
  for (uint32_t y = 0; y < height_; y += tile_height) {
    for (uint32_t x = 0; x < width_; x += tile_width) {
      if (TIFFReadTile(tiff, tile.data(), x, y, 0, plane) < 0) {
        session_.FailDamaged("a tile is damaged");
      }
      session_.FailIfDamaged();
      const uint32_t num_rows = std::min(tile_height, height_ - y);
      const uint32_t num_pixels = std::min(tile_width, width_ - x);
      for (uint32_t r = 0; r < num_rows; ++r) {
        on_row(x, y + r, num_pixels, tile.data() + static_cast<size_t>(row_bytes) * r);
      }
    }
  }
}

void TiffPage::ReadInterleaved(Image& image) {
  const auto target = [&image](uint32_t x, uint32_t y) {
    return image.Row(static_cast<int>(y)) + size_t{x} * Image::kChannels;
  };
  if (samples_.is_bitmap()) {
    const BitmapTable table(samples_.photometric == PHOTOMETRIC_MINISWHITE);
    ForEachRow(0, [&](uint32_t x, uint32_t y, uint32_t num_pixels, const uint8_t* packed) {
      table.ToRgb(packed, num_pixels, target(x, y));
    });
    return;
  }
  std::vector<uint8_t> row(RowSamples(width_));
  ForEachRow(0, [&](uint32_t x, uint32_t y, uint32_t num_pixels, const uint8_t* packed) {
    samples_.Unpack(packed, RowSamples(num_pixels), row.data());
    samples_.ToRgb(row.data(), num_pixels, target(x, y));
  });
}

// Planes are read one after another: going back and forth would decode strips again and again.
void TiffPage::ReadPlanes(Image& image) {
  // The planes that are used, put together as pixels: colours, then alpha.
  TiffSamples pixel = samples_;
  std::vector<uint16_t> planes;
  for (uint16_t i = 0; i < samples_.colours(); ++i) planes.push_back(i);
  if (samples_.alpha_index >= 0) {
    pixel.alpha_index = static_cast<int>(planes.size());
    planes.push_back(static_cast<uint16_t>(samples_.alpha_index));
  }
  pixel.per_pixel = static_cast<uint16_t>(planes.size());
  const size_t stride = planes.size();
  std::vector<uint8_t> pixels(size_t{width_} * height_ * stride);
  std::vector<uint8_t> row(width_);
  for (size_t i = 0; i < planes.size(); ++i) {
    ForEachRow(planes[i], [&](uint32_t x, uint32_t y, uint32_t num_pixels, const uint8_t* packed) {
      samples_.Unpack(packed, num_pixels, row.data());
      uint8_t* out = pixels.data() + (size_t{y} * width_ + x) * stride + i;
      for (uint32_t j = 0; j < num_pixels; ++j) out[j * stride] = row[j];
    });
  }
  pixel.ToRgb(pixels.data(), size_t{width_} * height_, image.rgb.data());
}

void TiffPage::ReadThroughRgba(Image& image) {
  TIFF* const tiff = session_.tiff();
  TIFFRGBAImage rgba = {};
  char reason[1024] = {};
  if (TIFFRGBAImageOK(tiff, reason) == 0 || TIFFRGBAImageBegin(&rgba, tiff, 1, reason) == 0) {
    session_.Fail(reason[0] != 0 ? reason : "this kind of TIFF is not read");
  }
  // Rows as stored: the page is turned upright afterwards, as for every other format.
  rgba.orientation = ORIENTATION_TOPLEFT;
  rgba.req_orientation = ORIENTATION_TOPLEFT;
  std::vector<uint32_t> raster(size_t{width_} * height_);
  const int ok = TIFFRGBAImageGet(&rgba, raster.data(), width_, height_);
  TIFFRGBAImageEnd(&rgba);
  if (ok == 0) session_.FailDamaged("the pixels are damaged");
  uint8_t* out = image.rgb.data();
  for (const uint32_t pixel : raster) {
    *out++ = static_cast<uint8_t>(TIFFGetR(pixel));
    *out++ = static_cast<uint8_t>(TIFFGetG(pixel));
    *out++ = static_cast<uint8_t>(TIFFGetB(pixel));
  }
}

}  // namespace

PageImage ReadTiffPage(const InputFile& file, const TiffDirectory& directory,
                       const ReadLimits& limits) {
  return TiffPage(file, directory, limits).Read();
}

}  // namespace platen
