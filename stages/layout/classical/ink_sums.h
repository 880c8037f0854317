// How much ink lies in a rectangle, whatever its size, in four reads.
#pragma once

#include <opencv2/core.hpp>

namespace platen::layout {

class InkSums {
 public:
  explicit InkSums(const cv::Mat& ink);  // 8-bit, 1 is ink

  // Pixels of ink in the columns [x0, x1) of the rows [y0, y1), which lie on the page.
  int In(int x0, int y0, int x1, int y1) const {
    return sums_.at<int>(y1, x1) - sums_.at<int>(y0, x1) - sums_.at<int>(y1, x0) +
           sums_.at<int>(y0, x0);
  }

  cv::Size page() const { return {sums_.cols - 1, sums_.rows - 1}; }

 private:
  cv::Mat sums_;  // the integral image
};

}  // namespace platen::layout
