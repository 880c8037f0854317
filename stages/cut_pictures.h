// Figures and charts cut out of a page.
#pragma once

#include <string>
#include <vector>

#include "model/support/image.h"
#include "stages/layout/layout.h"

namespace platen {

// A picture of a page as a PNG file.
struct Picture {
  int region = 0;  // index into the layout's regions
  std::string png;
};

// The figures and charts of the layout, in its order, from the page's own pixels: the upright box
// of each, rounded outwards. Gray where no pixel has a colour. `page` is upright. The same pixels
// give the same bytes. Throws Error(kEnvironment) if there is no memory.
std::vector<Picture> CutPictures(const Image& page, const PageLayout& layout);

// The pixels of an upright page that the box touches; empty: none.
Image CutOut(const Image& page, const BoxF& box);

}  // namespace platen
