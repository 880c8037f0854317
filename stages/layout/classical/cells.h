// A page seen from afar: in square cells of about a letter's height.
#pragma once

#include <opencv2/core.hpp>

namespace platen::layout {

// The mean of every cell of `image` (8-bit). `cell`: its side in pixels; at least one cell each
// way, stretched so that they fill the image.
cv::Mat CellMeans(const cv::Mat& image, double cell);

// The structuring element of a square with this side.
cv::Mat Square(int side);

}  // namespace platen::layout
