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

// The upright page, scaled down as far as the caller likes; nothing: it cannot be had. A writer
// calls it once for each page, in its own thread. Empty: there are no pictures.
using PageImages = std::function<std::optional<EncodedImage>(const PageResult& page)>;

}  // namespace platen
