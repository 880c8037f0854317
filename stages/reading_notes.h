// What speaks for caution with a region's text, as warnings of the region.
#pragma once

#include "model/families/reading_config.h"
#include "stages/formats/page_result.h"

namespace platen {

// Adds to each region: that its kind was read as lines of text because the model was not trained on
// it; what is wrong with the HTML of a table or the LaTeX of a formula; how many characters could
// not be decoded (U+FFFD). Pure; notes that are there are not added again.
void AddReadingNotes(const ReadingConfig& reading, PageResult& page);

}  // namespace platen
