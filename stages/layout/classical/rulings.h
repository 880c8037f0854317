// Printed lines: rules, table borders, underlines.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

namespace platen::layout {

struct VerticalRuling {
  double x;       // middle
  double y0, y1;  // ends, y1 exclusive
};

// Removes thin long strokes, along the rows and along the columns, from `ink` (8-bit, 1 is ink) and
// returns the vertical ones, by x: no text line crosses them.
std::vector<VerticalRuling> RemoveRulings(double letter_height, cv::Mat& ink);

}  // namespace platen::layout
