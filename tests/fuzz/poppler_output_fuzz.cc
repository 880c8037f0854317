// What pdfinfo and pdftoppm print about a hostile PDF.
#include "stages/readers/pdf_pictures.h"
#include "stages/readers/poppler_output.h"
#include "stages/readers/poppler_words.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = platen::fuzz::Text({data, size});
  platen::PopplerComplaint(text);
  platen::PagesFromPdfInfo(text);
  for (const auto& [page, points] : platen::PageSizesFromPdfInfo(text, 1, 64)) {
    const platen::ImageSize pixels = platen::PixelsOf(points, 200);
    for (const auto& [number, pictures] : platen::PicturesFromPdfImages(text)) {
      const double resolution = platen::ScanResolution(pictures, points);
      if (!(resolution >= 0) || resolution > 1e6) std::abort();
    }
    if (pixels.width < 0 || pixels.width > INT32_MAX || pixels.height < 0 ||
        pixels.height > INT32_MAX) {
      std::abort();
    }
  }
  for (const auto& [page, words] : platen::WordsFromPdfToText(text, 1)) {
    for (const platen::LayerWord& word : words) {
      if (word.text.empty() || !(word.x0 <= word.x1) || !(word.y0 <= word.y1)) std::abort();
    }
  }
  platen::PpmBytes(text);
  platen::ProgressOf(text, 9);
  return 0;
}
