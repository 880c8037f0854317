// Cuts a turned rectangle out of a page and scales it, in one step from the original pixels.
#pragma once

#include <opencv2/core.hpp>

namespace platen::layout {

// Where the pixels of a crop lie on the page: the crop's edge coordinates (0, 0) .. (w, h) map to
// origin + x * along + y * down. In page pixels; edges, so the first pixel's middle is at 0.5.
struct CropFrame {
  cv::Point2d origin;
  cv::Point2d along;  // one crop pixel to the right
  cv::Point2d down;   // one crop pixel down; as long as `along`

  cv::Point2d At(double x, double y) const { return origin + x * along + y * down; }
};

// The crop, 8-bit RGB. Shrinking averages all page pixels a crop pixel covers; enlarging is
// bicubic. Outside the page its border is repeated. `page`: 8-bit RGB, not empty, any size.
cv::Mat WarpCrop(const cv::Mat& page, const CropFrame& frame, cv::Size size);

}  // namespace platen::layout
