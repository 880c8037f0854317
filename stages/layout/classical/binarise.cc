#include "stages/layout/classical/binarise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace platen::layout {
namespace {

// The light is measured on cells of this many pixels.
constexpr int kCell = 8;
// The background is never darker than this share of the paper white: photos and borders stay black.
constexpr double kDarkestBackground = 0.45;
// Bands along the edges whose paper (75th percentile of a column or row) is darker than this share
// of the paper white are shadows, if no wider than kWidestShadow of the page.
constexpr double kShadow = 0.72;
constexpr double kWidestShadow = 0.15;
// Bounds of the ink threshold, of 255.
constexpr double kLowestThreshold = 0.42;
constexpr double kHighestThreshold = 0.82;

// Value below which the share `q` of the pixels lies, linear between neighbours.
class Histogram {
 public:
  explicit Histogram(const cv::Mat& pixels) {
    for (int y = 0; y < pixels.rows; ++y) {
      const uint8_t* row = pixels.ptr<uint8_t>(y);
      for (int x = 0; x < pixels.cols; ++x) ++count_[row[x]];
    }
    total_ = static_cast<int64_t>(pixels.total());
  }

  double Quantile(double q) const {
    const double position = q * static_cast<double>(total_ - 1);
    const auto below = static_cast<int64_t>(position);
    const double low = ValueAt(below);
    const double high = ValueAt(std::min(below + 1, total_ - 1));
    return low + (high - low) * (position - static_cast<double>(below));
  }

 private:
  // The value at `rank` of the sorted pixels.
  int ValueAt(int64_t rank) const {
    int value = 0;
    for (int64_t seen = count_[0]; seen <= rank; seen += count_[value]) ++value;
    return value;
  }

  std::array<int64_t, 256> count_ = {};
  int64_t total_ = 0;
};

// 75th percentile of every row (or of every column) of the cells.
std::vector<double> PaperProfile(const cv::Mat& cells, bool by_rows) {
  std::vector<double> profile;
  const int n = by_rows ? cells.rows : cells.cols;
  for (int i = 0; i < n; ++i) {
    profile.push_back(Histogram(by_rows ? cells.row(i) : cells.col(i)).Quantile(0.75));
  }
  return profile;
}

// Number of dark cells at the start of the profile.
template <typename Iterator>
int ShadowCells(Iterator begin, Iterator end, double white) {
  const auto widest = static_cast<double>(end - begin) * kWidestShadow;
  int n = 0;
  while (n < widest && begin[n] < kShadow * white) ++n;
  return n;
}

void PaintShadows(const cv::Mat& cells, double white, cv::Mat& flat) {
  const std::vector<double> columns = PaperProfile(cells, false);
  const std::vector<double> rows = PaperProfile(cells, true);
  const int left = std::min(ShadowCells(columns.begin(), columns.end(), white) * kCell, flat.cols);
  const int right =
      std::min(ShadowCells(columns.rbegin(), columns.rend(), white) * kCell, flat.cols);
  const int top = std::min(ShadowCells(rows.begin(), rows.end(), white) * kCell, flat.rows);
  const int bottom = std::min(ShadowCells(rows.rbegin(), rows.rend(), white) * kCell, flat.rows);
  flat.colRange(0, left).setTo(255);
  flat.colRange(flat.cols - right, flat.cols).setTo(255);
  flat.rowRange(0, top).setTo(255);
  flat.rowRange(flat.rows - bottom, flat.rows).setTo(255);
}

}  // namespace

cv::Mat FlattenLight(const cv::Mat& grey) {
  const cv::Size cell_grid(std::max(1, grey.cols / kCell), std::max(1, grey.rows / kCell));
  cv::Mat cells;
  cv::resize(grey, cells, cell_grid, 0, 0, cv::INTER_AREA);
  cv::Mat light;
  cv::dilate(cells, light, cv::getStructuringElement(cv::MORPH_ELLIPSE, cv::Size(9, 9)));
  cv::medianBlur(light, light, 9);
  cv::GaussianBlur(light, light, cv::Size(0, 0), 5);
  const double white = Histogram(light).Quantile(0.90);
  cv::max(light, std::floor(white * kDarkestBackground), light);
  cv::resize(light, light, grey.size(), 0, 0, cv::INTER_LINEAR);
  cv::Mat flat;
  cv::divide(grey, light, flat, 255);
  PaintShadows(cells, white, flat);
  return flat;
}

cv::Mat Binarise(const cv::Mat& flat) {
  cv::Mat ink;
  const double otsu = cv::threshold(flat, ink, 0, 1, cv::THRESH_BINARY_INV | cv::THRESH_OTSU);
  const double threshold = std::clamp(otsu, kLowestThreshold * 255, kHighestThreshold * 255);
  // Ink is below the threshold; cv::threshold keeps what equals it.
  cv::threshold(flat, ink, std::ceil(threshold) - 1, 1, cv::THRESH_BINARY_INV);
  return ink;
}

}  // namespace platen::layout
