// What looks like a text line and is none.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "stages/layout/classical/phrases.h"

namespace platen::layout {

// Page edges and letters, by which dirt is told from text.
struct PageFrame {
  cv::Size size;
  double letter_height = 0;
  double skew_degrees = 0;  // by which the page was turned, and its edges with it

  // Pixels within which something touches the page's edge.
  double EdgeTolerance() const;
};

// The lines without specks, strokes, dirt and shadows along the page's edges, and fragments inside
// larger lines.
std::vector<Phrase> DropFalseLines(const std::vector<Phrase>& lines, const PageFrame& page);

}  // namespace platen::layout
