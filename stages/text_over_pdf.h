// The searchable form of a PDF: itself, with the text of the pages that were read.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "stages/formats/page_images.h"
#include "stages/readers/document_reader.h"

namespace platen {

// Whether the program that writes it, qpdf, is there.
bool HasQpdf();

// `reader`: of the PDF at `path`, outlives the result. All pages, bookmarks, links and forms are
// kept; a file of which no page was read is given as it is. Nothing is given (see
// PageImages::OverFile) if qpdf cannot take the file, or takes it for another than poppler does.
// Throws Error(kInput) if qpdf is missing.
PageImages::OverFile TextOverPdf(const DocumentReader& reader, const std::string& path);

}  // namespace platen
