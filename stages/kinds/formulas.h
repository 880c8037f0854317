// Formulas that stand alone, told from the text around them.
#pragma once

#include "stages/formats/page_result.h"

namespace platen {

// Plain text of one or two lines becomes a formula, with a low score, where it stands in the middle
// of its column, away from both edges, and has a sign of equality or order and hardly a word; a
// number in brackets beside it, further right, is its number.
void AssignFormulas(PageResult& page);

}  // namespace platen
