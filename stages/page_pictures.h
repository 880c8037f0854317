// Pictures of whole pages, for outputs that show them.
#pragma once

#include "stages/formats/page_images.h"
#include "stages/readers/document_reader.h"

namespace platen {

// Reads the pages again from `reader`, which outlives the result; null: there are no pictures. A
// picture is the upright page that the page result describes, scaled down to kLongestSide, as JPEG.
// A page that cannot be read any more, or has another size than it had, has none. Takes the memory
// of one page in full size while it is called.
inline constexpr int kLongestSide = 1600;
PageImages PicturesOf(const DocumentReader* reader);

}  // namespace platen
