// Stamps and other marks over print, in a lighter ink than the print's.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "stages/layout/components.h"

namespace platen::layout {

// Whether the shape of a component is that of a mark.
bool MayHaveFaintMarks(const std::vector<Component>& components, double letter_height);

// Takes marks whose strokes hang together over several letters out of `ink`, so that the print
// under them can be told: within their bounds only what is nearly as dark as the page's letters
// stays. A mark on white paper is left. `flat`: 8-bit, paper is white. `components`: of `ink`.
void RemoveFaintMarks(const cv::Mat& flat, const Components& components, double letter_height,
                      cv::Mat& ink);

}  // namespace platen::layout
