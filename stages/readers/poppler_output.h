// What poppler's programs print, parsed. All of it is untrusted: titles and messages hold what the
// PDF's author wrote. Pure functions, private to this folder's sources.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "stages/readers/document_reader.h"

namespace platen {

// The first line, fit for a message: at most 200 bytes, control characters replaced.
std::string FirstLine(std::string_view text);

// What standard error says is wrong: the first line that speaks of an error, without its label
// ("Syntax Error (123): ", "Internal Error: "), else the first line.
std::string PopplerComplaint(std::string_view errors);

// Number of pages in pdfinfo's output; 0 if it does not say.
double PagesFromPdfInfo(std::string_view info);

// By page number from `first_page` to `last_page`, as far as pdfinfo's output says it: the page's
// crop box at `dpi` in pixels, rounded up, before any rotation; sides lie in 0..INT32_MAX.
std::map<int, ImageSize> PageSizesFromPdfInfo(std::string_view info, int first_page, int last_page,
                                              int dpi);

}  // namespace platen
