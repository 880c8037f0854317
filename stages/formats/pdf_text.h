// The text of a page as content of a PDF page: invisible, each word stretched to its place.
#pragma once

#include <string>

#include "stages/formats/pdf_parts.h"
#include "stages/formats/placed_page.h"

namespace platen {

// Units of a PDF page for each pixel of its image, along x and y.
struct PdfScale {
  double x = 1;
  double y = 1;
};

inline constexpr double kUsualImageDpi = 200;  // of images that do not say

// So that the page's sides are ones that PDF allows.
PdfScale ScaleOf(const PlacedPage& page);

// "BT 3 Tr … ET", from the lower left corner of the page; empty: it has no words. `font`: the name
// of its font,
// "/Text", which is EmptyFont with the codes of `codes`.
std::string TextOf(const PlacedPage& page, const PdfScale& scale, const std::string& font,
                   CodeTable& codes);

}  // namespace platen
