// Pictures of pages, for formats that show them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "stages/formats/page_result.h"

namespace platen {

struct EncodedImage {
  std::string media_type;  // "image/jpeg", "image/png", or kFaxCode
  std::string bytes;
  int width = 0;  // of kFaxCode, which does not say it itself
  int height = 0;
};

// Rows of black and white in one piece of ITU-T T.6.
inline constexpr const char* kFaxCode = "image/x-fax-group4";

// How a format shows pages: PageImages::upright, or PageImages::in_file.
enum class PageView { kNone, kUpright, kInFile };

// A writer calls each once for a page at most, in its own thread. Nothing: the picture cannot be
// had. Empty: there are no pictures.
struct PageImages {
  using Get = std::function<std::optional<EncodedImage>(const PageResult& page)>;
  Get upright = {};  // the upright page, scaled down as far as the caller likes
  Get in_file = {};  // the page as its file holds it, in full size: see PlaceOnImage

  // Of a document whose own file can take the text: gives that file with the text of `pages`, piece
  // by piece; returns what its reader should know of it, or "". Nothing, and nothing given: it
  // cannot.
  using Pages = std::function<void(const std::function<void(const PageResult&)>& each)>;
  using Append = std::function<void(std::string_view bytes)>;
  using OverFile =
      std::function<std::optional<std::string>(const Pages& pages, const Append& append)>;
  OverFile over_file = {};
};

}  // namespace platen
