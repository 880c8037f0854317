#include "stages/layout/classical/photographs.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

namespace platen::layout {
namespace {

// In cells of a letter height unless said otherwise.
constexpr int kPrintReach = 5;  // print leaves paper to be seen within this
// The paper's tone is the lightest within kPaperReach, evened out over half of it: pages are
// shaded.
constexpr int kPaperReach = 61;
constexpr double kTone = 0.9;   // of the paper's tone: what is darker is none
constexpr int kLeastSide = 7;
constexpr double kRectangle = 0.75;  // share of its box that a photograph fills
// Tones of a photograph: they differ, or are this dark (share of the paper's).
constexpr double kUneven = 5.0;  // grey levels, standard deviation
constexpr double kDark = 0.5;

cv::Mat Square(int side) { return {side, side, CV_8U, cv::Scalar(1)}; }

// Share of the paper's tone, 0..1, where print has been taken away.
cv::Mat ToneOfGround(const cv::Mat& cells) {
  cv::Mat ground, paper, share;
  cv::morphologyEx(cells, ground, cv::MORPH_CLOSE, Square(kPrintReach));
  cv::dilate(ground, paper, cv::Mat(1, kPaperReach, CV_8U, cv::Scalar(1)));
  cv::dilate(paper, paper, cv::Mat(kPaperReach, 1, CV_8U, cv::Scalar(1)));
  cv::erode(paper, paper, cv::Mat(1, kPaperReach, CV_8U, cv::Scalar(1)));
  cv::erode(paper, paper, cv::Mat(kPaperReach, 1, CV_8U, cv::Scalar(1)));
  cv::blur(paper, paper, cv::Size(kPaperReach / 2 | 1, kPaperReach / 2 | 1));
  cv::divide(ground, paper, share, 1.0, CV_32F);
  return share;
}

// Whether the cells within `box` that `mask` marks show something.
bool IsShown(const cv::Mat& cells, const cv::Mat& share, const cv::Mat& mask, const cv::Rect& box) {
  cv::Mat inner, ground;
  cv::erode(mask(box), inner, Square(3));
  if (cv::countNonZero(inner) == 0) return false;
  if (cv::mean(share(box), inner)[0] < kDark) return true;
  cv::morphologyEx(cells(box), ground, cv::MORPH_CLOSE, Square(kPrintReach));
  cv::Scalar mean, deviation;
  cv::meanStdDev(ground, mean, deviation, inner);
  return deviation[0] > kUneven;
}

}  // namespace

std::vector<Box> FindPhotographs(const cv::Mat& grey, double letter_height) {
  const cv::Size grid(std::max(1, static_cast<int>(grey.cols / letter_height)),
                      std::max(1, static_cast<int>(grey.rows / letter_height)));
  cv::Mat cells;
  cv::resize(grey, cells, grid, 0, 0, cv::INTER_AREA);
  const cv::Mat share = ToneOfGround(cells);
  cv::Mat toned = (share < kTone) & 1;
  cv::morphologyEx(toned, toned, cv::MORPH_OPEN, Square(kLeastSide / 2));
  cv::Mat labels, stats, centres;
  const int n = cv::connectedComponentsWithStats(toned, labels, stats, centres, 4, CV_32S);
  const double across = static_cast<double>(grey.cols) / grid.width;
  const double down = static_cast<double>(grey.rows) / grid.height;
  std::vector<Box> photographs;
  for (int i = 1; i < n; ++i) {
    const int* s = stats.ptr<int>(i);
    const cv::Rect box(s[cv::CC_STAT_LEFT], s[cv::CC_STAT_TOP], s[cv::CC_STAT_WIDTH],
                       s[cv::CC_STAT_HEIGHT]);
    if (box.width < kLeastSide || box.height < kLeastSide) continue;
    if (box.x == 0 || box.y == 0 || box.br().x == grid.width || box.br().y == grid.height) continue;
    if (s[cv::CC_STAT_AREA] < kRectangle * box.area()) continue;
    if (!IsShown(cells, share, labels == i, box)) continue;
    photographs.push_back({box.x * across, box.y * down, box.br().x * across, box.br().y * down});
  }
  std::sort(photographs.begin(), photographs.end(), LeftOf);
  return photographs;
}

}  // namespace platen::layout
