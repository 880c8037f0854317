#include "stages/layout/classical/cells.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

namespace platen::layout {

cv::Mat CellMeans(const cv::Mat& image, double cell) {
  const cv::Size grid(std::max(1, static_cast<int>(image.cols / cell)),
                      std::max(1, static_cast<int>(image.rows / cell)));
  cv::Mat means;
  cv::resize(image, means, grid, 0, 0, cv::INTER_AREA);
  return means;
}

cv::Mat Square(int side) { return {side, side, CV_8U, cv::Scalar(1)}; }

}  // namespace platen::layout
