// Light print on dark ground: banners, heads of tables, slides, inverted pages.
#pragma once

#include <opencv2/core.hpp>

namespace platen::layout {

// Finds areas of even dark ground with lighter print, and turns them into dark print on white.
// Returns where they are: 8-bit, 1 in an area, of the size of `grey`; empty if there are none.
// `grey`: 8-bit, one channel.
cv::Mat TurnDarkGround(cv::Mat& grey);

}  // namespace platen::layout
