// The angle at which a page lies in its scan.
#pragma once

#include <vector>

#include "stages/layout/components.h"

namespace platen::layout {

// Degrees within -6..6 by which the text lines fall to the right (y grows downwards); 0 unless an
// angle is clearly better than that. `letter_height` as LetterHeight returns it.
double FindSkew(const std::vector<Component>& components, double letter_height);

// How much the letters stand on common lines at this angle: 1 to 1.5 where they lie anywhere
// (noise, texture), about 4 and more for text. 0 if there are too few letters to tell.
double LineContrast(const std::vector<Component>& components, double letter_height,
                    double skew_degrees);

}  // namespace platen::layout
