#include "stages/layout/classical/gutters.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace platen::layout {
namespace {

// In cells of a fifth of a letter height.
constexpr int kCellsPerLetter = 5;
// Sizes of gutters, at least: the narrower, the longer. 2.4 letter heights by 12, 1.5 by 18, as
// wide as a space by 30.
constexpr int kWideWidth = 12;
constexpr int kWideHeight = 60;
constexpr int kWidth = 8;
constexpr int kHeight = 90;
constexpr int kNarrowWidth = 4;
constexpr int kNarrowHeight = 150;
// Beside a narrow gutter there is text from 7 to 12 letter heights away too.
constexpr int kFarFrom = 35;
constexpr int kFar = 25;
constexpr int kClosing = 45;  // 9: a short last line is no end of the column
constexpr int kReach = 70;    // 14: how far the text on either side may be

constexpr int kEnd = 15;           // 3: where a gutter's end is looked at
constexpr double kNarrowed = 0.6;  // of the narrowest place elsewhere in the gutter

const cv::Scalar kPaper = cv::Scalar::all(0);
const cv::Point kCentered(-1, -1);

// The image moved to the right by `cells`, white where it had nothing.
cv::Mat MovedAcross(const cv::Mat& image, int cells) {
  cv::Mat moved = cv::Mat::zeros(image.size(), image.type());
  const int by = std::min(std::abs(cells), image.cols), kept = image.cols - by;
  if (kept == 0) return moved;
  const int from = cells > 0 ? 0 : by, to = cells > 0 ? by : 0;
  image.colRange(from, from + kept).copyTo(moved.colRange(to, to + kept));
  return moved;
}

// The white beside a picture or between columns of a table may run on between two words of the line
// above or below it, where it is narrower than all along: that end goes. `labels`: of gutters.
void TrimEnd(const cv::Mat& labels, int label, const cv::Rect& box, bool top, cv::Mat& mask) {
  std::vector<int> widths;  // by row, from the end
  for (int k = 0; k < box.height; ++k) {
    const int y = top ? box.y + k : box.br().y - 1 - k;
    widths.push_back(cv::countNonZero(labels(cv::Rect(box.x, y, box.width, 1)) == label));
  }
  const int narrowest = *std::min_element(widths.begin() + kEnd, widths.end() - kEnd);
  int trimmed = 0;  // rows
  for (int k = 0; k < kEnd; ++k) {
    if (widths[static_cast<size_t>(k)] < kNarrowed * narrowest) trimmed = k + 1;
  }
  if (trimmed == 0) return;
  const cv::Rect end(box.x, top ? box.y : box.br().y - trimmed, box.width, trimmed);
  mask(end).setTo(0, labels(end) == label);
}

void TrimEnds(cv::Mat& mask) {
  cv::Mat labels, stats, centres;
  const int n = cv::connectedComponentsWithStats(mask, labels, stats, centres, 4, CV_32S);
  for (int i = 1; i < n; ++i) {
    const int* s = stats.ptr<int>(i);
    const cv::Rect box(s[cv::CC_STAT_LEFT], s[cv::CC_STAT_TOP], s[cv::CC_STAT_WIDTH],
                       s[cv::CC_STAT_HEIGHT]);
    if (box.height <= 3 * kEnd) continue;
    TrimEnd(labels, i, box, true, mask);
    TrimEnd(labels, i, box, false, mask);
  }
}

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
  cv::Mat middling, narrow;
  cv::morphologyEx(free, mask_, cv::MORPH_OPEN, Bar(kWideHeight, kWideWidth), kCentered, 1,
                   cv::BORDER_CONSTANT, kPaper);
  cv::morphologyEx(free, middling, cv::MORPH_OPEN, Bar(kHeight, kWidth), kCentered, 1,
                   cv::BORDER_CONSTANT, kPaper);
  // Beside a narrow one stand columns, not the first words of a list.
  cv::dilate(flank, left, Bar(1, kFar), cv::Point(kFar - 1, 0));
  cv::dilate(flank, right, Bar(1, kFar), cv::Point(0, 0));
  const cv::Mat between_columns =
      free & MovedAcross(left, kFarFrom) & MovedAcross(right, -kFarFrom);
  cv::morphologyEx(between_columns, narrow, cv::MORPH_OPEN, Bar(kNarrowHeight, kNarrowWidth),
                   kCentered, 1, cv::BORDER_CONSTANT, kPaper);
  mask_ |= middling | narrow;
  TrimEnds(mask_);
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
