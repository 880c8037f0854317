// WebP through libwebp.
#include <webp/decode.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "stages/readers/byte_view.h"
#include "stages/readers/decoders.h"
#include "stages/readers/exif.h"
#include "stages/readers/pixels.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

const char* StatusText(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return "out of memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "a feature libwebp does not know";
    default:
      return "the data is corrupt";
  }
}

// The first eight bytes say how many follow. libwebp takes some ends of data for damage.
bool IsCutOff(std::span<const uint8_t> head, uint64_t file_bytes) {
  return file_bytes < 8 || ByteView(head, ByteOrder::kLittle).U32(4) > file_bytes - 8;
}

// `head`: as much of the file as libwebp was given.
void FailIfNotOk(VP8StatusCode status, const std::string& path, std::span<const uint8_t> head,
                 uint64_t file_bytes) {
  if (status == VP8_STATUS_OK) return;
  if (IsCutOff(head, file_bytes)) ThrowCutOff(path, file_bytes, "WebP");
  ThrowUnreadable(path, std::string("WebP: ") + StatusText(status));
}

// `head`: the start of a file of `file_bytes` bytes, or all of it.
WebPBitstreamFeatures ReadFeatures(const std::string& path, std::span<const uint8_t> head,
                                   uint64_t file_bytes) {
  WebPBitstreamFeatures features;
  FailIfNotOk(WebPGetFeatures(head.data(), head.size(), &features), path, head, file_bytes);
  if (features.has_animation != 0) {
    ThrowUnreadable(path, "WebP: animations are not read, only still images",
                    FailureCode::kUnsupported);
  }
  return features;
}

// Content of the first chunk with this four-letter name; empty if there is none.
std::span<const uint8_t> FindChunk(std::span<const uint8_t> bytes, std::string_view name) {
  constexpr size_t kRiffHeader = 12;
  constexpr size_t kChunkHeader = 8;
  const ByteView view(bytes, ByteOrder::kLittle);
  uint64_t at = kRiffHeader;
  while (view.Has(at, kChunkHeader)) {
    const uint64_t length = view.U32(at + 4);
    const bool found = std::equal(name.begin(), name.end(), bytes.begin() + static_cast<long>(at));
    at += kChunkHeader;
    if (found) return bytes.subspan(at, std::min<uint64_t>(length, bytes.size() - at));
    at += length + length % 2;
  }
  return {};
}

}  // namespace

ImageSize WebpSize(const InputFile& file) {
  // Sizes stand in the first chunk; what lies between it and the pixels is not needed.
  constexpr size_t kHeadBytes = 4096;
  const std::vector<uint8_t> head = file.ReadFirst(kHeadBytes);
  const WebPBitstreamFeatures features = ReadFeatures(file.path(), head, file.size());
  return {features.width, features.height};
}

PageImage DecodeWebp(const EncodedImage& file, const ReadLimits& limits) {
  const std::span<const uint8_t> bytes = file.bytes;
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) ThrowUnreadable(file.path, "WebP: library mismatch");
  config.input = ReadFeatures(file.path, bytes, bytes.size());
  CheckPageSize(file.path, config.input.width, config.input.height, limits);

  PageImage page;
  page.image = Image(config.input.width, config.input.height);
  const bool on_white = config.input.has_alpha != 0 && limits.composite_alpha_on_white;
  const size_t num_pixels = page.image.rgb.size() / Image::kChannels;
  std::vector<uint8_t> rgba(on_white ? num_pixels * 4 : 0);
  std::vector<uint8_t>& out = on_white ? rgba : page.image.rgb;
  config.output.colorspace = on_white ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = out.data();
  config.output.u.RGBA.size = out.size();
  config.output.u.RGBA.stride =
      static_cast<int>(out.size() / static_cast<size_t>(page.image.height));
  FailIfNotOk(WebPDecode(bytes.data(), bytes.size(), &config), file.path, bytes, bytes.size());
  if (on_white) RgbaOnWhite(rgba.data(), num_pixels, page.image.rgb.data());

  const ExifFacts exif = ParseExif(FindChunk(bytes, "EXIF"));
  page.dpi_x = exif.dpi_x;
  page.dpi_y = exif.dpi_y;
  TurnUpright(page, exif.orientation);
  return page;
}

}  // namespace platen
