// Pictures of pages, for formats that show them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "stages/formats/page_result.h"

namespace platen {

struct EncodedImage {
  std::string media_type;  // "image/jpeg"
  std::string bytes;
};

// A writer calls each once for a page at most, in its own thread. Nothing: the picture cannot be
// had. Empty: there are no pictures.
struct PageImages {
  using Get = std::function<std::optional<EncodedImage>(const PageResult& page)>;
  Get upright = {};  // the upright page, scaled down as far as the caller likes
  Get in_file = {};  // the page as its file holds it, in full size: see PlaceOnImage
};

}  // namespace platen
