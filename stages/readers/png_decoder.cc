// PNG through libpng. libpng reports errors by longjmp: the functions that call it (named Png...)
// hold plain data only, so that no destructor is skipped.
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "stages/readers/decoders.h"
#include "stages/readers/exif.h"
#include "stages/readers/pixels.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr double kMetresPerInch = 0.0254;
constexpr size_t kSignatureBytes = 8;
constexpr size_t kStartBytes = kSignatureBytes + 25;  // with the header's chunk

// One decoding. Plain data.
struct PngState {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const uint8_t* bytes = nullptr;
  size_t size = 0;
  size_t offset = 0;
  bool ended_early = false;
  char message[160] = {};
};

struct PngHeader {
  png_uint_32 width = 0;
  png_uint_32 height = 0;
  bool has_alpha = false;
  double dpi_x = 0;
  double dpi_y = 0;
};

extern "C" {

void PngOnError(png_structp png, png_const_charp message) {
  auto* state = static_cast<PngState*>(png_get_error_ptr(png));
  std::snprintf(state->message, sizeof(state->message), "%s", message);
  png_longjmp(png, 1);
}

void PngOnWarning(png_structp, png_const_charp) {}

void PngOnRead(png_structp png, png_bytep out, size_t length) {
  auto* state = static_cast<PngState*>(png_get_io_ptr(png));
  if (length > state->size - state->offset) {
    state->ended_early = true;
    png_error(png, "the file ends early");
  }
  std::memcpy(out, state->bytes + state->offset, length);
  state->offset += length;
}

}  // extern "C"

// Each of the following returns false after an error, with state.message set.

bool PngReadHeader(PngState& state, PngHeader& header) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;
  // Sizes are checked by the caller, against limits of ours.
  png_set_user_limits(state.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_benign_errors(state.png, 1);
  png_set_read_fn(state.png, &state, PngOnRead);
  png_read_info(state.png, state.info);
  header.width = png_get_image_width(state.png, state.info);
  header.height = png_get_image_height(state.png, state.info);
  header.has_alpha = (png_get_color_type(state.png, state.info) & PNG_COLOR_MASK_ALPHA) != 0 ||
                     png_get_valid(state.png, state.info, PNG_INFO_tRNS) != 0;
  header.dpi_x = png_get_x_pixels_per_meter(state.png, state.info) * kMetresPerInch;
  header.dpi_y = png_get_y_pixels_per_meter(state.png, state.info) * kMetresPerInch;
  return true;
}

// Decodes to `num_channels` (3: RGB, 4: RGBA) 8-bit samples per pixel, rows without padding.
bool PngReadPixels(PngState& state, int num_channels, uint8_t* out) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;
  png_set_expand_gray_1_2_4_to_8(state.png);
  png_set_palette_to_rgb(state.png);
  png_set_strip_16(state.png);
  png_set_gray_to_rgb(state.png);
  if (num_channels == 4) {
    png_set_tRNS_to_alpha(state.png);
    png_set_add_alpha(state.png, 0xFF, PNG_FILLER_AFTER);
  } else {
    png_set_strip_alpha(state.png);
  }
  const int num_passes = png_set_interlace_handling(state.png);
  png_read_update_info(state.png, state.info);
  const size_t row_bytes = png_get_rowbytes(state.png, state.info);
  const png_uint_32 height = png_get_image_height(state.png, state.info);
  const size_t width = png_get_image_width(state.png, state.info);
  if (row_bytes != width * static_cast<size_t>(num_channels)) {
    png_error(state.png, "unexpected row length");
  }
  for (int pass = 0; pass < num_passes; ++pass) {
    for (png_uint_32 y = 0; y < height; ++y) png_read_row(state.png, out + y * row_bytes, nullptr);
  }
  return true;
}

// What follows the pixels.
bool PngReadEnd(PngState& state) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;
  png_read_end(state.png, state.info);
  return true;
}

// Owns libpng's structures.
class PngReader {
 public:
  explicit PngReader(const EncodedImage& file) : path_(file.path) {
    state_.bytes = file.bytes.data();
    state_.size = file.bytes.size();
    state_.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state_, PngOnError, PngOnWarning);
    state_.info = state_.png == nullptr ? nullptr : png_create_info_struct(state_.png);
    if (state_.info == nullptr) {
      png_destroy_read_struct(&state_.png, nullptr, nullptr);
      ThrowUnreadable(path_, "PNG: out of memory", FailureCode::kOutOfMemory);
    }
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&state_.png, &state_.info, nullptr); }

  PngHeader ReadHeader() {
    PngHeader header;
    if (!PngReadHeader(state_, header)) Fail();
    return header;
  }

  // Of a file of which only kStartBytes are known.
  ImageSize ReadSize() {
    PngHeader header;
    // It ends behind the chunk with the size, which libpng has checked by then.
    if (!PngReadHeader(state_, header) && !state_.ended_early) Fail();
    header.width = png_get_image_width(state_.png, state_.info);
    header.height = png_get_image_height(state_.png, state_.info);
    if (header.width == 0) ThrowDamaged(path_, kSignatureBytes, "PNG", "the header is missing");
    return {header.width, header.height};
  }

  void ReadPixels(int num_channels, std::vector<uint8_t>& out) {
    if (!PngReadPixels(state_, num_channels, out.data())) Fail();
  }

  // Empty if all is well. Damage after the pixels harms none of them.
  std::string ReadEnd() {
    return PngReadEnd(state_) ? "" : "damaged after the pixels: " + std::string(state_.message);
  }

  int Orientation() const {
    png_bytep exif = nullptr;
    png_uint_32 size = 0;
    if (png_get_eXIf_1(state_.png, state_.info, &size, &exif) == 0) return 1;
    return ParseExif({exif, size}).orientation;
  }

 private:
  [[noreturn]] void Fail() const {
    if (state_.ended_early) ThrowCutOff(path_, state_.size, "PNG");
    ThrowDamaged(path_, state_.offset, "PNG", state_.message);
  }

  const std::string& path_;
  PngState state_;
};

}  // namespace

ImageSize PngSize(const InputFile& file) {
  const std::vector<uint8_t> start = file.ReadFirst(kStartBytes);
  if (start.size() < kStartBytes) ThrowCutOff(file.path(), start.size(), "PNG");
  return PngReader({file.path(), start}).ReadSize();
}

PageImage DecodePng(const EncodedImage& file, const ReadLimits& limits) {
  PngReader reader(file);
  const PngHeader header = reader.ReadHeader();
  CheckPageSize(file.path, header.width, header.height, limits);
  PageImage page;
  page.image = Image(static_cast<int>(header.width), static_cast<int>(header.height));
  page.dpi_x = header.dpi_x;
  page.dpi_y = header.dpi_y;
  if (header.has_alpha && limits.composite_alpha_on_white) {
    const size_t num_pixels = page.image.rgb.size() / Image::kChannels;
    std::vector<uint8_t> rgba(num_pixels * 4);
    reader.ReadPixels(4, rgba);
    RgbaOnWhite(rgba.data(), num_pixels, page.image.rgb.data());
  } else {
    reader.ReadPixels(3, page.image.rgb);
  }
  page.warning = reader.ReadEnd();
  TurnUpright(page, reader.Orientation());
  return page;
}

}  // namespace platen
