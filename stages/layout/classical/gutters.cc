#include "stages/layout/classical/gutters.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "stages/layout/components.h"

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
  cv::Mat moved(image.size(), image.type(), cv::Scalar(0));
  const int by = std::min(std::abs(cells), image.cols), kept = image.cols - by;
  if (kept == 0) return moved;
  const int from = cells > 0 ? 0 : by, to = cells > 0 ? by : 0;
  image.colRange(from, from + kept).copyTo(moved.colRange(to, to + kept));
  return moved;
}

// The white beside a picture or between columns of a table may run on between two words of the line
// above or below it, where it is narrower than all along: that end goes. `widths`: of a gutter's
// rows from the end on. Returns the number of rows that go.
int RowsToTrim(const std::vector<int>& widths) {
  const int narrowest = *std::min_element(widths.begin() + kEnd, widths.end() - kEnd);
  int trimmed = 0;  // rows
  for (int k = 0; k < kEnd; ++k) {
    if (widths[static_cast<size_t>(k)] < kNarrowed * narrowest) trimmed = k + 1;
  }
  return trimmed;
}

void TrimEnds(cv::Mat& mask) {
  const Components gutters = FindComponents(mask, Connectivity::kSides);
  for (const Component& gutter : gutters.items) {
    if (gutter.height <= 3 * kEnd) continue;
    std::vector<int> widths(static_cast<size_t>(gutter.height), 0);
    for (const Run& run : gutters.RunsOf(gutter)) widths[run.y - gutter.y] += run.x1 - run.x0;
    const int top = gutter.y + RowsToTrim(widths);
    std::reverse(widths.begin(), widths.end());
    const int bottom = gutter.y + gutter.height - RowsToTrim(widths);
    for (const Run& run : gutters.RunsOf(gutter)) {
      if (run.y >= top && run.y < bottom) continue;
      mask.row(run.y).colRange(run.x0, run.x1).setTo(0);
    }
  }
}

cv::Mat Bar(int rows, int cols) { return {rows, cols, CV_8U, cv::Scalar(1)}; }

}  // namespace

Gutters::Gutters(const std::vector<Box>& core, const std::vector<Box>& stripes, cv::Size page,
                 double letter_height)
    : cell_(letter_height / kCellsPerLetter) {
  const int rows = static_cast<int>(page.height / cell_) + 2;
  const int cols = static_cast<int>(page.width / cell_) + 2;
  cv::Mat text(rows, cols, CV_8U, cv::Scalar(0));
  const auto cells_of = [&](const Box& b) {
    const cv::Point first(static_cast<int>(b.x0 / cell_), static_cast<int>(b.y0 / cell_));
    const cv::Point end(static_cast<int>(std::ceil(b.x1 / cell_)),
                        static_cast<int>(std::ceil(b.y1 / cell_)));
    return cv::Rect(first, end) & cv::Rect(0, 0, cols, rows);
  };
  for (const Box& b : core) text(cells_of(b)).setTo(1);
  // White with text on both sides. Ragged ends of paragraphs, blank bands and address blocks have
  // text on one side only and are no gutters.
  cv::Mat flank, left, right;
  cv::morphologyEx(text, flank, cv::MORPH_CLOSE, Bar(kClosing, 1), kCentered, 1,
                   cv::BORDER_CONSTANT, kPaper);
  cv::dilate(flank, left, Bar(1, kReach), cv::Point(kReach - 1, 0));
  cv::dilate(flank, right, Bar(1, kReach), cv::Point(0, 0));
  cv::Mat free = (text == 0) & left & right;
  for (const Box& b : stripes) free(cells_of(b)).setTo(0);
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
