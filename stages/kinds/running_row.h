// The head and the foot of a single page.
#pragma once

#include "stages/formats/page_result.h"
#include "stages/kinds/print_size.h"

namespace platen {

// The row of short lines above (or below) everything else is a header (a footer), as far as it is
// no larger than the text, where
//   - a page number stands in it (a scrap of a few letters at the edge of the print, apart from the
//     rest of the row, is one, misread), or
//   - it is well apart from the text, and small print, or capitals on a page with a number.
// `body`: print of the page's text.
void AssignRunningRows(const Print& body, PageResult& page);

}  // namespace platen
