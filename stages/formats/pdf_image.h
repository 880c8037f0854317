// Images in PDF files, as they are: the bytes of a JPEG, the compressed rows of a PNG, fax code.
#pragma once

#include <optional>
#include <string>

#include "stages/formats/page_images.h"

namespace platen {

struct PdfImage {
  int width = 0;
  int height = 0;
  std::string entries;  // of the stream's dictionary, but for its length
  std::string stream;
};

// Nothing: PDF cannot take the image as it is (CMYK, transparency, interlaced rows, …), or it is
// damaged as far as that was looked at. Anything may be given.
std::optional<PdfImage> PdfImageOf(const EncodedImage& image);

}  // namespace platen
