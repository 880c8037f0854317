#include "stages/layout/classical/rulings.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "stages/layout/runs.h"

namespace platen::layout {
namespace {

constexpr double kShortest = 6.0;  // letter heights
constexpr int kShortestPixels = 12;
constexpr double kThickest = 0.55;  // letter heights
constexpr double kLengthToThickness = 11.0;

// Runs of at least `shortest` pixels. Looks at every `shortest`-th pixel first: a run that long
// cannot pass between two of them.
std::vector<Run> LongRuns(const cv::Mat& ink, int shortest) {
  std::vector<Run> runs;
  for (int y = 0; y < ink.rows; ++y) {
    const uint8_t* row = ink.ptr<uint8_t>(y);
    int start = 0;  // a run may start here or later
    while (start + shortest <= ink.cols) {
      int gap = start + shortest - 1;
      while (gap >= start && row[gap]) --gap;
      if (gap >= start) {
        start = gap + 1;
        continue;
      }
      int end = start + shortest;
      while (end < ink.cols && row[end]) ++end;
      runs.push_back({y, start, end});
      start = end + 1;
    }
  }
  return runs;
}

struct Stroke {
  std::vector<Run> runs;
  int start, end;  // along
  int first_row, last_row;
};

// Thin long strokes along the rows of `ink`.
std::vector<Stroke> FindStrokes(const cv::Mat& ink, double xh) {
  // Made fatter by a pixel on both sides, a slightly slanted stroke still has long runs.
  cv::Mat fat;
  cv::dilate(ink, fat, cv::Mat(3, 1, CV_8U, cv::Scalar(1)));
  const int shortest = std::max(kShortestPixels, static_cast<int>(kShortest * xh));
  const std::vector<Run> runs = LongRuns(fat, shortest);
  std::vector<Stroke> strokes;
  for (const std::vector<int>& group : JoinRuns(runs, Connectivity::kCorners).Groups()) {
    Stroke s = {{}, runs[group[0]].x0, runs[group[0]].x1, runs[group[0]].y, 0};
    double area = 0;
    for (int i : group) {
      s.runs.push_back(runs[i]);
      s.start = std::min(s.start, runs[i].x0);
      s.end = std::max(s.end, runs[i].x1);
      s.last_row = runs[i].y;
      area += runs[i].x1 - runs[i].x0;
    }
    const double length = s.end - s.start;
    const double thickness = area / length - 2;  // before it was made fatter
    if (thickness > kThickest * xh) continue;
    if (length < kLengthToThickness * std::max(1.0, thickness)) continue;
    strokes.push_back(std::move(s));
  }
  return strokes;
}

}  // namespace

Rulings RemoveRulings(double letter_height, cv::Mat& ink) {
  cv::Mat columns;  // the page's columns as rows
  cv::transpose(ink, columns);
  const std::vector<Stroke> across = FindStrokes(ink, letter_height);
  const std::vector<Stroke> down = FindStrokes(columns, letter_height);

  const auto ruling = [](const Stroke& s) {
    return Ruling{(s.first_row + s.last_row + 1) / 2.0, static_cast<double>(s.start),
                  static_cast<double>(s.end)};
  };
  Rulings rulings;
  for (const Stroke& s : across) {
    for (const Run& r : s.runs) ink.row(r.y).colRange(r.x0, r.x1).setTo(0);
    rulings.across.push_back(ruling(s));
  }
  for (const Stroke& s : down) {
    for (const Run& r : s.runs) ink.col(r.y).rowRange(r.x0, r.x1).setTo(0);
    rulings.down.push_back(ruling(s));
  }
  return rulings;
}

}  // namespace platen::layout
