#include "stages/layout/classical/gutters.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace platen::layout {
namespace {

// In cells of a fifth of a letter height.
constexpr int kCellsPerLetter = 5;
constexpr int kWidth = 8;     // of a gutter, at least: 1.5 letter heights
constexpr int kHeight = 60;   // 12
constexpr int kClosing = 20;  // 4: the white between the lines of a column is no end of the column
constexpr int kReach = 70;    // 14: how far the text on either side may be

const cv::Scalar kPaper = cv::Scalar::all(0);
const cv::Point kCentered(-1, -1);

cv::Mat Bar(int rows, int cols) { return {rows, cols, CV_8U, cv::Scalar(1)}; }

}  // namespace

Gutters::Gutters(const std::vector<Box>& core, cv::Size page, double letter_height)
    : cell_(letter_height / kCellsPerLetter) {
  const int rows = static_cast<int>(page.height / cell_) + 2;
  const int cols = static_cast<int>(page.width / cell_) + 2;
  cv::Mat text(rows, cols, CV_8U, cv::Scalar(0));
  for (const Box& b : core) {
    const cv::Range y(static_cast<int>(b.y0 / cell_),
                      std::min(rows, static_cast<int>(std::ceil(b.y1 / cell_))));
    const cv::Range x(static_cast<int>(b.x0 / cell_),
                      std::min(cols, static_cast<int>(std::ceil(b.x1 / cell_))));
    text(y, x).setTo(1);
  }
  // White with text on both sides. Ragged ends of paragraphs, blank bands and address blocks have
  // text on one side only and are no gutters.
  cv::Mat flank, left, right;
  cv::morphologyEx(text, flank, cv::MORPH_CLOSE, Bar(kClosing, 1), kCentered, 1,
                   cv::BORDER_CONSTANT, kPaper);
  cv::dilate(flank, left, Bar(1, kReach), cv::Point(kReach - 1, 0));
  cv::dilate(flank, right, Bar(1, kReach), cv::Point(0, 0));
  const cv::Mat free = (text == 0) & left & right;
  cv::morphologyEx(free, mask_, cv::MORPH_OPEN, Bar(kHeight, kWidth), kCentered, 1,
                   cv::BORDER_CONSTANT, kPaper);
}

bool Gutters::Between(const Box& left, const Box& right) const {
  const double middle = (std::max(left.y0, right.y0) + std::min(left.y1, right.y1)) / 2;
  const int y = static_cast<int>(middle / cell_);
  const int x0 = std::max(0, static_cast<int>(std::ceil(left.x1 / cell_)));
  const int x1 = std::min(mask_.cols, static_cast<int>(right.x0 / cell_));
  if (y < 0 || y >= mask_.rows) return false;
  const uint8_t* row = mask_.ptr<uint8_t>(y);
  return x0 < x1 && std::any_of(row + x0, row + x1, [](uint8_t free) { return free != 0; });
}

}  // namespace platen::layout
