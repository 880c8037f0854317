#include "stages/layout/scale_image.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace platen {
namespace {

constexpr double kSquareEnough = 1.1;
constexpr double kMostOblong = 2.5;
constexpr double kMostPixels = 60e6;  // of an enlarged image

Image Stretched(const Image& image, double across, double down, int interpolation) {
  const auto side = [](int length, double factor) {
    return std::max(1, static_cast<int>(std::lround(length * factor)));
  };
  Image scaled(side(image.width, across), side(image.height, down));
  // OpenCV wants memory that may be written; it only reads this.
  const cv::Mat from(image.height, image.width, CV_8UC3, const_cast<uint8_t*>(image.rgb.data()));
  cv::Mat to(scaled.height, scaled.width, CV_8UC3, scaled.rgb.data());
  cv::resize(from, to, to.size(), 0, 0, interpolation);
  return scaled;
}

}  // namespace

Image ScaleImage(const Image& image, double factor) {
  return Stretched(image, factor, factor, factor < 1 ? cv::INTER_AREA : cv::INTER_CUBIC);
}

void MakePixelsSquare(Image& image, double& dpi_x, double& dpi_y) {
  if (image.empty() || !(dpi_x > 0) || !(dpi_y > 0)) return;
  const double finer = std::max(dpi_x, dpi_y), coarser = std::min(dpi_x, dpi_y);
  if (finer < kSquareEnough * coarser || finer > kMostOblong * coarser) return;
  const double pixels = static_cast<double>(image.width) * image.height * finer / coarser;
  const bool enlarge = pixels <= kMostPixels;
  const double dpi = enlarge ? finer : coarser;
  image = Stretched(image, dpi / dpi_x, dpi / dpi_y, enlarge ? cv::INTER_CUBIC : cv::INTER_AREA);
  dpi_x = dpi_y = dpi;
}

}  // namespace platen
