// Pictures of pages that have been read, with the lines that were found on them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/known_documents.h"
#include "pipeline/result_store.h"
#include "stages/formats/page_images.h"
#include "stages/formats/placed_page.h"
#include "stages/readers/document_reader.h"

namespace platen {

struct GalleryPage {
  std::optional<EncodedImage> image;  // of the upright page; none: it cannot be had any more
  PlacedPage page;                    // its lines on it
};

// Opens a document as it was opened when it was read with these settings.
using OpenAsItWasRead = std::function<std::unique_ptr<DocumentReader>(
    const std::string& path, const std::vector<DocumentSetting>& settings)>;

// The page of the document whose outputs have this path, at most `longest_side` pixels wide and
// high; nothing if its result is not stored, or is of no page. Changes nothing. Throws
// Error(kEnvironment).
std::optional<GalleryPage> ShowPage(const KnownDocuments& known, const ResultStore& results,
                                    const std::string& output, int page, int longest_side,
                                    const OpenAsItWasRead& open);

}  // namespace platen
