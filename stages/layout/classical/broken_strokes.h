// Faxes and thin copies whose strokes have broken into pieces.
#pragma once

#include <opencv2/core.hpp>
#include <optional>

#include "stages/layout/classical/page_work.h"

namespace platen::layout {

struct FoundPage {
  WorkingPage page;
  PageLines lines;
};

// If the lines of `found` look like fragments of letters, closes the gaps in the strokes of `grey`
// and looks again; keeps the result if it joins the fragments.
void MendBrokenStrokes(const cv::Mat& grey, FoundPage& found);

}  // namespace platen::layout
