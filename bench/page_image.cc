#include "bench/page_image.h"

// jpeglib.h needs size_t and FILE before it.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <vector>

#include "model/support/error.h"

namespace platen::bench {
namespace {

constexpr int kPaper = 235;
constexpr int kInk = 40;
constexpr int kNoise = 12;
constexpr int kQuality = 85;

// Sizes of the drawn text as shares of the page's width: about 70 letters a line.
struct Text {
  explicit Text(int width)
      : letter(std::max(2, width / 90)), line(letter * 2), margin(letter * 4) {}
  int letter, line, margin;
};

// One line of words: upright strokes with gaps, three letters to nine.
void DrawLine(std::minstd_rand& rng, const Text& text, int top, Image& page) {
  const int stroke = std::max(1, text.letter / 4);
  for (int x = text.margin; x < page.width - text.margin;) {
    const int letters = 3 + static_cast<int>(rng() % 7);
    for (int i = 0; i < 2 * letters && x + stroke < page.width - text.margin; ++i) {
      for (int y = top; y < top + text.letter; ++y) {
        uint8_t* pixels = page.Row(y) + 3 * x;
        std::fill(pixels, pixels + 3 * stroke, static_cast<uint8_t>(kInk));
      }
      x += 2 * stroke;
    }
    x += text.letter;
  }
}

}  // namespace

Image DrawPage(uint64_t seed, int width, int height) {
  std::minstd_rand rng(static_cast<uint32_t>(seed) + 1);
  Image page(width, height);
  for (size_t i = 0; i < page.rgb.size(); i += 3) {
    const auto level = static_cast<uint8_t>(kPaper + static_cast<int>(rng() % kNoise));
    page.rgb[i] = page.rgb[i + 1] = page.rgb[i + 2] = level;
  }
  const Text text(width);
  for (int top = text.margin; top + text.line < height - text.margin; top += text.line) {
    DrawLine(rng, text, top, page);
  }
  return page;
}

void WriteJpeg(const Image& image, const std::string& path) {
  jpeg_error_mgr errors;
  jpeg_compress_struct jpeg;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(image.width);
  jpeg.image_height = static_cast<JDIMENSION>(image.height);
  jpeg.input_components = 1;
  jpeg.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, kQuality, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<JSAMPLE> gray(static_cast<size_t>(image.width));
  for (int y = 0; y < image.height; ++y) {
    for (size_t x = 0; x < gray.size(); ++x) gray[x] = image.Row(y)[3 * x];
    JSAMPROW row = gray.data();
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  const std::unique_ptr<unsigned char, decltype(&std::free)> owner(bytes, &std::free);
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  out.close();
  if (!out) throw Error(ErrorKind::kEnvironment, {path, ""}, "cannot write");
}

}  // namespace platen::bench
