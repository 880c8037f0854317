// Stamps and other marks over print, in a lighter ink than the print's.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "stages/layout/components.h"

namespace platen::layout {

// Takes marks whose strokes hang together over several letters out of `ink`, so that the print
// under them can be told: within their bounds only what is nearly as dark as the page's letters
// stays. On white paper the words in a frame become ink, and the frame goes; but what stands aslant
// goes whole, and its box is returned. `flat`: 8-bit, paper is white.
std::vector<Box> RemoveFaintMarks(const cv::Mat& flat, double letter_height, cv::Mat& ink);

}  // namespace platen::layout
