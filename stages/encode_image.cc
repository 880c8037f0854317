// libjpeg reports errors by longjmp: JpegCompress, which calls it, holds plain data only, so that
// no destructor is skipped.
#include "stages/encode_image.h"

#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
// After size_t and FILE, which it needs.
#include <jpeglib.h>

#include <memory>
#include <vector>

#include "model/support/error.h"

namespace platen {
namespace {

bool IsGray(const Image& image) {
  for (size_t i = 0; i < image.rgb.size(); i += Image::kChannels) {
    if (image.rgb[i] != image.rgb[i + 1] || image.rgb[i] != image.rgb[i + 2]) return false;
  }
  return true;
}

// Its one channel; empty: it has colours.
std::vector<uint8_t> GrayOf(const Image& image) {
  std::vector<uint8_t> gray;
  if (!IsGray(image)) return gray;
  gray.reserve(image.rgb.size() / Image::kChannels);
  for (size_t i = 0; i < image.rgb.size(); i += Image::kChannels) gray.push_back(image.rgb[i]);
  return gray;
}

// Rows of samples, without padding.
struct Samples {
  const uint8_t* data = nullptr;
  int width = 0;
  int height = 0;
  int channels = 0;
};

struct JpegOutput {
  jpeg_error_mgr errors = {};
  jpeg_compress_struct jpeg = {};
  jmp_buf on_error = {};
  char message[JMSG_LENGTH_MAX] = {};
  unsigned char* bytes = nullptr;  // malloc'ed by libjpeg
  unsigned long size = 0;          // NOLINT: the type of libjpeg
};

extern "C" {

[[noreturn]] void JpegOnFailure(j_common_ptr jpeg) {
  JpegOutput& output = *static_cast<JpegOutput*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, output.message);
  std::longjmp(output.on_error, 1);
}

}  // extern "C"

// False: `output.message` says why. What was written so far is in `output.bytes` all the same.
bool JpegCompress(const Samples& samples, int quality, JpegOutput& output) {
  jpeg_compress_struct& jpeg = output.jpeg;
  jpeg.err = jpeg_std_error(&output.errors);
  output.errors.error_exit = JpegOnFailure;
  jpeg.client_data = &output;
  if (setjmp(output.on_error) != 0) {
    jpeg_destroy_compress(&jpeg);
    return false;
  }
  jpeg_create_compress(&jpeg);
  jpeg_mem_dest(&jpeg, &output.bytes, &output.size);
  jpeg.image_width = static_cast<JDIMENSION>(samples.width);
  jpeg.image_height = static_cast<JDIMENSION>(samples.height);
  jpeg.input_components = samples.channels;
  jpeg.in_color_space = samples.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  jpeg.dct_method = JDCT_ISLOW;  // the same integers on every CPU
  jpeg_start_compress(&jpeg, TRUE);
  const size_t stride = static_cast<size_t>(samples.width) * static_cast<size_t>(samples.channels);
  while (jpeg.next_scanline < jpeg.image_height) {
    // libjpeg wants memory that may be written; it only reads this.
    JSAMPROW row = const_cast<uint8_t*>(samples.data) + jpeg.next_scanline * stride;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  return true;
}

}  // namespace

std::string ToPng(const Image& image) {
  const std::vector<uint8_t> gray = GrayOf(image);
  png_image header = {};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = gray.empty() ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  const void* pixels = gray.empty() ? image.rgb.data() : gray.data();
  // What png_image_write_to_memory would need is known only after it has run.
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string png(size, '\0');
  if (png_image_write_to_memory(&header, png.data(), &size, 0, pixels, 0, nullptr) == 0) {
    throw Error(ErrorKind::kEnvironment, {},
                std::string("a picture cannot be written as PNG: ") + header.message);
  }
  png.resize(size);
  return png;
}

std::string ToJpeg(const Image& image, int quality) {
  const std::vector<uint8_t> gray = GrayOf(image);
  const Samples samples = {gray.empty() ? image.rgb.data() : gray.data(), image.width, image.height,
                           gray.empty() ? Image::kChannels : 1};
  JpegOutput output;
  const bool written = JpegCompress(samples, quality, output);
  const std::unique_ptr<unsigned char, decltype(&std::free)> owner(output.bytes, &std::free);
  if (!written) {
    throw Error(ErrorKind::kEnvironment, {},
                std::string("a picture cannot be written as JPEG: ") + output.message);
  }
  return {reinterpret_cast<const char*>(output.bytes), output.size};
}

}  // namespace platen
