// The angle at which a page lies in its scan.
#pragma once

#include <vector>

#include "stages/layout/components.h"

namespace platen::layout {

// Degrees within -6..6 by which the text lines fall to the right (y grows downwards); 0 unless an
// angle is clearly better than that. `letter_height` as LetterHeight returns it.
double FindSkew(const std::vector<Component>& components, double letter_height);

}  // namespace platen::layout
