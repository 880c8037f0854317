// Pictures of whole pages, for outputs that show them.
#pragma once

#include <optional>

#include "model/support/image.h"
#include "stages/formats/page_images.h"
#include "stages/kept_pictures.h"
#include "stages/readers/document_reader.h"

namespace platen {

inline constexpr int kLongestSide = 1600;

// Reads the pages again from `reader`, which outlives the result; null: there are no pictures. The
// upright page that a result describes is scaled down to `longest_side`, as JPEG. The page in its
// file is that file, `path`, if it is a JPEG or PNG that a PDF can take as it is and has no
// orientation to be turned by; else its pixels, as fax code if they are black and white, else as
// PNG. A PDF takes the text itself (TextOverPdf). A page that cannot be read any more, or has
// another size than it had, has no picture. Takes the memory of one page in full size while it is
// called.
// What `kept`, which outlives the result too, has of them is taken from there instead.
PageImages PicturesOf(const DocumentReader* reader, const std::string& path,
                      int longest_side = kLongestSide, const KeptPictures* kept = nullptr);

// Keeps what PicturesOf would give of a page: in the views that are wanted, and where it takes more
// than its file. `result`: of the page, its text is not looked at. `upright`: its pixels, where
// they are at hand. Throws Error(kEnvironment); a page that cannot be shown is no error.
void KeepPictures(const DocumentReader& reader, const std::string& path, const PageResult& result,
                  const Image* upright, KeptPictures& kept);

// The upright page that a result describes, in full size; nothing if it cannot be read any more or
// has another size than it had. Throws Error(kEnvironment).
std::optional<Image> UprightPageOf(const DocumentReader& reader, const PageResult& result);

}  // namespace platen
