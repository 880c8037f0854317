// Rectangles of a page that show another tone than its paper all over: photographs and halftones.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "stages/layout/geometry.h"

namespace platen::layout {

// In pixels of `grey` (8-bit, of a straight page), by LeftOf. An evenly tinted ground with print on
// it is none, nor is a shadow along the page's edge. `cells`: CellMeans(grey, letter_height);
// `letter_height` in pixels.
std::vector<Box> FindPhotographs(const cv::Mat& grey, const cv::Mat& cells, double letter_height);

}  // namespace platen::layout
