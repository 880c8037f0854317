// What poppler's programs print, parsed. All of it is untrusted: titles and messages hold what the
// PDF's author wrote. Pure functions, private to this folder's sources.
#pragma once

#include <cstddef>
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

inline constexpr double kPointsPerInch = 72;

// A page's crop box, before any rotation. Sides are finite and not negative.
struct PagePoints {
  double width = 0;  // points, of which an inch has 72
  double height = 0;
};

// By page number from `first_page` to `last_page`, as far as pdfinfo's output says it.
std::map<int, PagePoints> PageSizesFromPdfInfo(std::string_view info, int first_page,
                                               int last_page);

// Its pixels at `dpi`, rounded up; sides lie in 0..INT32_MAX.
ImageSize PixelsOf(const PagePoints& size, double dpi);

// Bytes of the binary PPM image that `head` begins, as pdftoppm writes them: header and pixels;
// 0 if it begins none or its header goes on beyond `head` (64 bytes hold it).
size_t PpmBytes(std::string_view head);

// How many pages from `first_page` on pdftoppm -progress says are done, in order, and whether it
// says nothing else. `errors`: its standard error so far; a last line without an end counts for
// nothing.
struct RenderProgress {
  int num_done = 0;
  bool is_silent = true;
};
RenderProgress ProgressOf(std::string_view errors, int first_page);

}  // namespace platen
