// The outline of a text line.
#pragma once

#include <array>
#include <opencv2/core.hpp>

#include "stages/layout/classical/phrases.h"

namespace platen::layout {

// Rise of the baseline per pixel to the right (y grows downwards), where enough letters show one
// (keystone, curl); else 0.
double BaselineSlope(const Phrase& line, double letter_height);

// Top and bottom of a line at its middle, once its slope is taken away.
struct LineExtent {
  double top, bottom;
};
LineExtent ExtentAlong(const Phrase& line, double slope, double letter_height);

// The line's outline with 0.3 letter heights of paper around it: top-left, top-right, bottom-right,
// bottom-left.
std::array<cv::Point2d, 4> LineQuad(const Phrase& line, double slope, const LineExtent& extent,
                                    double letter_height);

// Paper around the ink of a quad, in letter heights.
inline constexpr double kQuadPadding = 0.3;

}  // namespace platen::layout
