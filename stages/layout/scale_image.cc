#include "stages/layout/scale_image.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace platen {

Image ScaleImage(const Image& image, double factor) {
  const auto side = [&](int length) {
    return std::max(1, static_cast<int>(std::lround(length * factor)));
  };
  Image scaled(side(image.width), side(image.height));
  // OpenCV wants memory that may be written; it only reads this.
  const cv::Mat from(image.height, image.width, CV_8UC3, const_cast<uint8_t*>(image.rgb.data()));
  cv::Mat to(scaled.height, scaled.width, CV_8UC3, scaled.rgb.data());
  cv::resize(from, to, to.size(), 0, 0, factor < 1 ? cv::INTER_AREA : cv::INTER_CUBIC);
  return scaled;
}

}  // namespace platen
