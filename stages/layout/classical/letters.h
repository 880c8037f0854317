// Which components are letters, and which are pictures, borders and dirt.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "stages/layout/components.h"
#include "stages/layout/geometry.h"

namespace platen::layout {

// Boxes by height, each list by x, then y.
struct Letters {
  std::vector<Box> core;   // 0.62 to 2.9 letter heights: the running text
  std::vector<Box> tall;   // up to 14: headlines, drop capitals
  std::vector<Box> small;  // below: dots, commas, accents, dirt
};

// Sorts out the components of a page without rulings. `skew_degrees`: the angle by which the page
// has been turned, since its edges were turned with it.
Letters FindLetters(const Components& components, double letter_height, double skew_degrees);

// A point between two letters of a typed word, as in "36.94", has much white on both sides: letters
// alone look like two columns there. The box of the letter before it is widened up to its end.
void ReachOverPoints(double letter_height, Letters& letters);

}  // namespace platen::layout
