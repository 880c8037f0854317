// Pictures of pages that have been read, with the lines that were found on them.
#pragma once

#include <optional>
#include <string>

#include "model/support/image.h"
#include "pipeline/result_store.h"
#include "pipeline/unchanged_document.h"
#include "stages/formats/page_images.h"
#include "stages/formats/placed_page.h"

namespace platen {

struct GalleryPage {
  std::optional<EncodedImage> image;  // of the upright page; none: it cannot be had any more
  PlacedPage page;                    // its lines on it
};

// The page of the document whose outputs have this path, at most `longest_side` pixels wide and
// high; nothing if its result is not stored, or is of no page. Changes nothing. Throws
// Error(kEnvironment).
std::optional<GalleryPage> ShowPage(const KnownDocuments& known, const ResultStore& results,
                                    const std::string& output, int page, int longest_side,
                                    const OpenAsItWasRead& open);

// The same in full size, for parts to be cut out.
struct UprightPage {
  std::optional<Image> image;  // none: it cannot be had any more
  PageResult result;           // of it
};
std::optional<UprightPage> OpenPage(const KnownDocuments& known, const ResultStore& results,
                                    const std::string& output, int page,
                                    const OpenAsItWasRead& open);

}  // namespace platen
