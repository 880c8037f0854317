// The words of pages, as `pdftotext -bbox-layout` prints them. A pure function, private to this
// folder's sources.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "stages/readers/page_text.h"
#include "stages/readers/poppler_output.h"

namespace platen {

// By page number from `first_page` on; boxes in points from the upper left corner of the page as it
// is shown. A page has no words if one of them has no place or no end: the others cannot be relied
// on. Characters that are no text (controls, white space, broken UTF-8) are U+FFFD. A word with
// nothing between its tags is none.
std::map<int, std::vector<LayerWord>> WordsFromPdfToText(std::string_view text, int first_page);

}  // namespace platen
