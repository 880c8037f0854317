// The layout of a page: the size of a small page, then rectangles drawn on it, eight bytes each
// (x, y, width, height, tone, and how often it is repeated, by which step across and down).
#include <algorithm>

#include "stages/layout/layout.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

constexpr int kMostRepeats = 40;

platen::Image PageOf(const uint8_t* data, size_t size) {
  const int width = 1 + 4 * data[0], height = 1 + 4 * data[1];
  platen::Image page(width, height);
  std::fill(page.rgb.begin(), page.rgb.end(), data[2]);
  for (size_t i = 3; i + 8 <= size; i += 8) {
    const uint8_t* d = data + i;
    for (int k = 0; k <= d[5] % kMostRepeats; ++k) {
      const int x0 = 4 * d[0] + k * (d[6] % 64), y0 = 4 * d[1] + k * (d[7] % 64);
      for (int y = y0; y < std::min(height, y0 + 1 + d[3]); ++y) {
        if (x0 >= width) break;
        std::fill(page.Row(y) + 3 * x0, page.Row(y) + 3 * std::min(width, x0 + 1 + d[2]), d[4]);
      }
    }
  }
  return page;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  static const auto detector = platen::MakeClassicalDetector();
  platen::fuzz::Run([&] {
    platen::Image page = PageOf(data, size);
    platen::DetectUpright(*detector, page);
  });
  return 0;
}
