// What the parts of a page are, from their text and place: titles, headings, list items, captions,
// footnotes, page numbers, code, formulas.
#pragma once

#include "stages/formats/page_result.h"

namespace platen {

// Gives regions of text that were read line by line their kinds; parts lists into their items and
// headings from their text; leaves out scraps of pictures and dirt, which the model read with
// little confidence. Regions that a layout model has given a kind keep it. docs/LAYOUT.md has the
// rules. Pure.
void AssignKinds(PageResult& page);

}  // namespace platen
