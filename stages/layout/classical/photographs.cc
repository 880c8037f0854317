#include "stages/layout/classical/photographs.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "stages/layout/classical/cells.h"
#include "stages/layout/components.h"

namespace platen::layout {
namespace {

// In cells of a letter height unless said otherwise.
constexpr int kPrintReach = 5;  // print leaves paper to be seen within this
// The paper's tone is the lightest within kPaperReach, evened out over half of it: pages are
// shaded.
constexpr int kPaperReach = 61;
constexpr double kTone = 0.9;  // of the paper's tone: what is darker is none
constexpr int kLeastSide = 7;
constexpr double kRectangle = 0.75;  // share of its box that a photograph fills
// Tones of a photograph: they differ, or are this dark (share of the paper's).
constexpr double kUneven = 5.0;  // grey levels, standard deviation
constexpr double kDark = 0.5;

// At its edges: darker than this share of the paper's tone, over this share of their length.
constexpr double kEdgeTone = 0.94;
constexpr float kEdgeShare = 0.85f;

// The tone of the paper around each cell.
cv::Mat PaperOf(const cv::Mat& ground) {
  cv::Mat paper;
  cv::dilate(ground, paper, cv::Mat(1, kPaperReach, CV_8U, cv::Scalar(1)));
  cv::dilate(paper, paper, cv::Mat(kPaperReach, 1, CV_8U, cv::Scalar(1)));
  cv::erode(paper, paper, cv::Mat(1, kPaperReach, CV_8U, cv::Scalar(1)));
  cv::erode(paper, paper, cv::Mat(kPaperReach, 1, CV_8U, cv::Scalar(1)));
  cv::blur(paper, paper, cv::Size(kPaperReach / 2 | 1, kPaperReach / 2 | 1));
  return paper;
}

// Whether the ground within `box` where `mask` is set shows something.
bool IsShown(const cv::Mat& ground, double paper, const cv::Mat& mask) {
  cv::Mat inner;
  cv::erode(mask, inner, Square(3));
  if (cv::countNonZero(inner) == 0) return false;
  cv::Scalar mean, deviation;
  cv::meanStdDev(ground, mean, deviation, inner);
  return mean[0] < kDark * paper || deviation[0] > kUneven;
}

// Moves the sides of a box found in cells inwards to where the tone begins: a line of print close
// to a photograph is no part of it. At most by three cells of `cell` pixels.
cv::Rect Tightened(const cv::Mat& grey, cv::Rect box, double paper, double cell) {
  cv::Mat even, toned, across, down;
  const int side = std::max(3, static_cast<int>(cell / 3));
  cv::blur(grey(box), even, cv::Size(side, side));  // dots of a halftone are one tone
  toned = (even < kEdgeTone * paper) / 255;
  cv::reduce(toned, down, 1, cv::REDUCE_AVG, CV_32F);    // of each row
  cv::reduce(toned, across, 0, cv::REDUCE_AVG, CV_32F);  // of each column
  const int most = static_cast<int>(3 * cell);
  const auto white = [&](const cv::Mat& shares, bool from_end) {
    const int n = static_cast<int>(shares.total());
    int k = 0;
    while (k < std::min(most, n / 3) && shares.at<float>(from_end ? n - 1 - k : k) < kEdgeShare)
      ++k;
    return k;
  };
  const int left = white(across, false), right = white(across, true);
  const int top = white(down, false), bottom = white(down, true);
  return {box.x + left, box.y + top, box.width - left - right, box.height - top - bottom};
}

}  // namespace

std::vector<Box> FindPhotographs(const cv::Mat& grey, const cv::Mat& cells, double letter_height) {
  const cv::Size grid = cells.size();
  cv::Mat ground, share;
  cv::morphologyEx(cells, ground, cv::MORPH_CLOSE, Square(kPrintReach));
  const cv::Mat paper = PaperOf(ground);
  cv::divide(ground, paper, share, 1.0, CV_32F);
  cv::Mat toned = (share < kTone) & 1;
  cv::morphologyEx(toned, toned, cv::MORPH_OPEN, Square(kLeastSide / 2));
  const Components areas = FindComponents(toned, Connectivity::kSides);
  const double across = static_cast<double>(grey.cols) / grid.width;
  const double down = static_cast<double>(grey.rows) / grid.height;
  std::vector<Box> photographs;
  for (const Component& area : areas.items) {
    const cv::Rect box = area.rect();
    if (box.width < kLeastSide || box.height < kLeastSide) continue;
    if (box.x == 0 || box.y == 0 || box.br().x == grid.width || box.br().y == grid.height) continue;
    if (area.area < kRectangle * box.area()) continue;
    const double white = cv::mean(paper(box))[0];
    if (!IsShown(ground(box), white, areas.Mask(area))) continue;
    const cv::Point first(static_cast<int>(box.x * across), static_cast<int>(box.y * down));
    const cv::Point end(static_cast<int>(box.br().x * across), static_cast<int>(box.br().y * down));
    const cv::Rect r = Tightened(grey, cv::Rect(first, end), white, letter_height);
    photographs.push_back({static_cast<double>(r.x), static_cast<double>(r.y),
                           static_cast<double>(r.br().x), static_cast<double>(r.br().y)});
  }
  std::sort(photographs.begin(), photographs.end(), LeftOf);
  return photographs;
}

}  // namespace platen::layout
