// JPEG through libjpeg-turbo, with its defaults: accurate integer inverse DCT and smooth chroma
// upsampling, so that the bytes equal Pillow's. libjpeg reports errors by longjmp: the functions
// that call it (named Jpeg...) hold plain data only, so that no destructor is skipped.
#include <csetjmp>
#include <cstdio>
// These two in this order, after size_t and FILE: each needs what comes before it.
#include <jpeglib.h>
// The message codes depend on what jpeglib.h configures.
#include <jerror.h>

#include <array>
#include <cstring>
#include <vector>

#include "stages/readers/byte_view.h"
#include "stages/readers/decoders.h"
#include "stages/readers/exif.h"
#include "stages/readers/pixels.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

// A progressive file may hold any number of scans, each costing a pass over the image.
constexpr int kMaxScans = 500;
constexpr unsigned kMaxMarkerBytes = 0xFFFF;
constexpr double kCentimetresPerInch = 2.54;

// One decoding. Plain data.
struct JpegState {
  jpeg_error_mgr errors = {};
  jpeg_decompress_struct jpeg = {};
  jpeg_progress_mgr progress = {};
  jmp_buf on_error = {};
  char message[JMSG_LENGTH_MAX] = {};
  char damage[JMSG_LENGTH_MAX] = {};  // first sign of damaged pixels, before the end of the bytes
  bool ended_early = false;           // libjpeg ran out of bytes
  bool lost_pixels = false;           // ... while it needed them
};

JpegState& StateOf(j_common_ptr jpeg) { return *static_cast<JpegState*>(jpeg->client_data); }

extern "C" {

[[noreturn]] void JpegOnError(j_common_ptr jpeg) {
  JpegState& state = StateOf(jpeg);
  jpeg->err->format_message(jpeg, state.message);
  std::longjmp(state.on_error, 1);
}

void JpegOnOutput(j_common_ptr) {}

// Level -1 is a warning: libjpeg goes on, inventing gray pixels where data is missing.
void JpegOnMessage(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  JpegState& state = StateOf(jpeg);
  switch (jpeg->err->msg_code) {
    case JWRN_JPEG_EOF:
      state.ended_early = true;
      break;
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
      if (state.ended_early) {
        state.lost_pixels = true;
      } else if (state.damage[0] == 0) {
        jpeg->err->format_message(jpeg, state.damage);
      }
      break;
    default:
      break;  // harmless, such as bytes between markers
  }
}

void JpegOnProgress(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMaxScans) return;
  JpegState& state = StateOf(jpeg);
  std::snprintf(state.message, sizeof(state.message), "more than %d scans", kMaxScans);
  std::longjmp(state.on_error, 1);
}

}  // extern "C"

// Each of the following returns false after an error, with state.message set.

bool JpegReadHeader(JpegState& state, const uint8_t* bytes, size_t size) {
  if (setjmp(state.on_error) != 0) return false;
  jpeg_create_decompress(&state.jpeg);
  state.jpeg.client_data = &state;
  state.jpeg.progress = &state.progress;
  jpeg_save_markers(&state.jpeg, JPEG_APP0 + 1, kMaxMarkerBytes);
  jpeg_mem_src(&state.jpeg, bytes, size);
  jpeg_read_header(&state.jpeg, TRUE);
  // libjpeg converts gray and YCbCr to RGB and YCCK to CMYK.
  state.jpeg.out_color_space = state.jpeg.num_components == 4 ? JCS_CMYK : JCS_RGB;
  return true;
}

// `row_buffer`: 4 * width bytes for CMYK, else unused. `rgb`: 3 * width * height bytes.
bool JpegReadPixels(JpegState& state, uint8_t* row_buffer, uint8_t* rgb) {
  if (setjmp(state.on_error) != 0) return false;
  jpeg_decompress_struct& jpeg = state.jpeg;
  jpeg_start_decompress(&jpeg);
  const size_t width = jpeg.output_width;
  const bool cmyk = jpeg.out_color_space == JCS_CMYK;
  while (jpeg.output_scanline < jpeg.output_height) {
    uint8_t* const rgb_row = rgb + jpeg.output_scanline * width * Image::kChannels;
    JSAMPROW row = cmyk ? row_buffer : rgb_row;
    if (jpeg_read_scanlines(&jpeg, &row, 1) != 1) continue;
    if (!cmyk) continue;
    // Adobe's programs store ink inverted, and every reader counts on it, Pillow's included.
    for (size_t i = 0; i < 4 * width; ++i) row[i] = static_cast<uint8_t>(255 - row[i]);
    CmykToRgb(row, width, rgb_row);
  }
  return true;
}

// Owns libjpeg's structures.
class JpegReader {
 public:
  explicit JpegReader(const std::string& path) : path_(path) {
    jpeg_std_error(&state_.errors);
    state_.errors.error_exit = JpegOnError;
    state_.errors.output_message = JpegOnOutput;
    state_.errors.emit_message = JpegOnMessage;
    state_.progress.progress_monitor = JpegOnProgress;
    state_.jpeg.err = &state_.errors;
    state_.jpeg.client_data = &state_;
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&state_.jpeg); }

  void ReadHeader(std::span<const uint8_t> bytes) {
    num_bytes_ = bytes.size();
    if (!JpegReadHeader(state_, bytes.data(), bytes.size())) Fail(state_.message);
  }

  int64_t width() const { return state_.jpeg.image_width; }
  int64_t height() const { return state_.jpeg.image_height; }

  void ReadPixels(Image& image) {
    std::vector<uint8_t> row;
    if (state_.jpeg.out_color_space == JCS_CMYK) row.resize(static_cast<size_t>(width()) * 4);
    if (!JpegReadPixels(state_, row.data(), image.rgb.data())) Fail(state_.message);
    if (state_.damage[0] != 0) Fail(state_.damage);
    // Of a file in one scan only the end marker may be missing. Of several whole ones may be.
    if (state_.lost_pixels || (state_.ended_early && jpeg_has_multiple_scans(&state_.jpeg) != 0)) {
      Fail("");
    }
  }

  ExifFacts Exif() const {
    for (jpeg_saved_marker_ptr m = state_.jpeg.marker_list; m != nullptr; m = m->next) {
      if (m->data_length > 6 && std::memcmp(m->data, "Exif\0", 6) == 0) {
        return ParseExif({m->data, m->data_length});
      }
    }
    return {};
  }

  void SetResolution(PageImage& page, const ExifFacts& exif) const {
    const jpeg_decompress_struct& jpeg = state_.jpeg;
    const bool known = jpeg.saw_JFIF_marker != 0 && jpeg.density_unit != 0;
    const double per_inch = jpeg.density_unit == 2 ? kCentimetresPerInch : 1;
    page.dpi_x = known ? jpeg.X_density * per_inch : exif.dpi_x;
    page.dpi_y = known ? jpeg.Y_density * per_inch : exif.dpi_y;
  }

 private:
  // What libjpeg says after the last byte is about bytes that it made up.
  [[noreturn]] void Fail(const char* reason) const {
    if (state_.ended_early && state_.damage[0] == 0) ThrowCutOff(path_, num_bytes_, "JPEG");
    ThrowUnreadable(path_, "JPEG: " + std::string(reason));
  }

  const std::string& path_;
  size_t num_bytes_ = 0;
  JpegState state_;
};

// --- The size alone ---

constexpr int kMaxSegments = 4096;
constexpr uint64_t kMaxBytesBetweenSegments = 64 << 10;

enum Marker : uint8_t {
  kTemporary = 0x01,
  kFirstFrame = 0xC0,
  kHuffmanTables = 0xC4,
  kExtension = 0xC8,
  kArithmeticConditions = 0xCC,
  kLastFrame = 0xCF,
  kFirstRestart = 0xD0,
  kStartOfImage = 0xD8,
  kEndOfImage = 0xD9,
  kStartOfScan = 0xDA,
};

bool IsFrame(uint8_t marker) {
  return marker >= kFirstFrame && marker <= kLastFrame && marker != kHuffmanTables &&
         marker != kExtension && marker != kArithmeticConditions;
}

bool HasNoLength(uint8_t marker) {
  return marker == kTemporary || (marker >= kFirstRestart && marker <= kStartOfImage);
}

// The next marker from `at` on, which moves behind it. As libjpeg does, bytes that belong to no
// segment are passed over, though not without end.
uint8_t NextMarker(const InputFile& file, uint64_t& at) {
  const uint64_t end = at + kMaxBytesBetweenSegments;
  std::array<uint8_t, 256> block;
  bool after_ff = false;
  while (at < end) {
    const size_t size = file.ReadAt(at, block);
    if (size == 0) ThrowCutOff(file.path(), file.size(), "JPEG");
    for (size_t i = 0; i < size; ++i) {
      if (after_ff && block[i] != 0 && block[i] != 0xFF) {
        at += i + 1;
        return block[i];
      }
      after_ff = block[i] == 0xFF;
    }
    at += size;
  }
  ThrowDamaged(file.path(), at, "JPEG", "there is no header");
}

}  // namespace

ImageSize JpegSize(const InputFile& file) {
  uint64_t at = 2;  // behind the start of the image
  for (int i = 0; i < kMaxSegments; ++i) {
    const uint8_t marker = NextMarker(file, at);
    if (HasNoLength(marker)) continue;
    if (marker == kStartOfScan || marker == kEndOfImage) break;
    std::array<uint8_t, 7> start = {};  // of a segment: length, and of a frame: bits, height, width
    const size_t size = file.ReadAt(at, start);
    const ByteView view(start, ByteOrder::kBig);
    const uint16_t length = view.U16(0);
    if (size < 2 || (IsFrame(marker) && size < start.size())) {
      ThrowCutOff(file.path(), file.size(), "JPEG");
    }
    if (length < 2) ThrowDamaged(file.path(), at, "JPEG", "a segment has no length");
    if (IsFrame(marker)) return {view.U16(5), view.U16(3)};
    at += length;
  }
  ThrowDamaged(file.path(), at, "JPEG", "there is no header before the pixels");
}

PageImage DecodeJpeg(const EncodedImage& file, const ReadLimits& limits) {
  JpegReader reader(file.path);
  reader.ReadHeader(file.bytes);
  CheckPageSize(file.path, reader.width(), reader.height(), limits);
  PageImage page;
  page.image = Image(static_cast<int>(reader.width()), static_cast<int>(reader.height()));
  reader.ReadPixels(page.image);
  const ExifFacts exif = reader.Exif();
  reader.SetResolution(page, exif);
  TurnUpright(page, exif.orientation);
  return page;
}

}  // namespace platen
