// Printed lines: rules, table borders, underlines.
#pragma once

#include <opencv2/core.hpp>

#include "stages/layout/tables.h"

namespace platen::layout {

// Removes thin long strokes, along the rows and along the columns, from `ink` (8-bit, 1 is ink) and
// returns them, by their place.
Rulings RemoveRulings(double letter_height, cv::Mat& ink);

}  // namespace platen::layout
