#include "stages/layout/classical/quads.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace platen::layout {
namespace {

constexpr size_t kFewestLetters = 10;
constexpr size_t kFewestOrdinary = 8;  // of those, not taller than kOrdinary letter heights
constexpr size_t kFewestOnBaseline = 6;
constexpr double kShortest = 18;  // letter heights
constexpr double kOrdinary = 2.6;
constexpr double kSteepest = 0.05;
constexpr double kVisible = 0.35;  // letter heights by which the slope must move the line's ends

struct StraightLine {
  double slope, offset;
  double At(double x) const { return slope * x + offset; }
};

// Least squares. `points` holds at least two different x.
StraightLine Fit(const std::vector<cv::Point2d>& points) {
  cv::Point2d mean(0, 0);
  for (const cv::Point2d& p : points) mean += p;
  mean = mean * (1.0 / static_cast<double>(points.size()));
  double xx = 0, xy = 0;
  for (const cv::Point2d& p : points) {
    xx += (p.x - mean.x) * (p.x - mean.x);
    xy += (p.x - mean.x) * (p.y - mean.y);
  }
  const double slope = xx > 0 ? xy / xx : 0;
  return {slope, mean.y - slope * mean.x};
}

}  // namespace

double BaselineSlope(const Phrase& line, double letter_height) {
  const double xh = letter_height;
  if (line.letters.size() < kFewestLetters || line.box.width() <= kShortest * xh) return 0;
  std::vector<cv::Point2d> bottoms;
  for (const Box& c : line.letters) {
    if (c.height() < kOrdinary * xh) bottoms.emplace_back(c.center_x(), c.y1);
  }
  if (bottoms.size() < kFewestOrdinary) return 0;
  StraightLine baseline = Fit(bottoms);
  std::vector<cv::Point2d> on_baseline;  // without the descenders
  for (const cv::Point2d& p : bottoms) {
    if (std::abs(p.y - baseline.At(p.x)) < std::max(1.0, 0.22 * xh)) on_baseline.push_back(p);
  }
  if (on_baseline.size() >= kFewestOnBaseline) baseline = Fit(on_baseline);
  const double slope = std::clamp(baseline.slope, -kSteepest, kSteepest);
  return std::abs(slope) * line.box.width() < kVisible * xh ? 0 : slope;
}

LineExtent ExtentAlong(const Phrase& line, double slope, double letter_height) {
  if (slope == 0) return {line.box.y0, line.box.y1};
  const double xh = letter_height;
  std::vector<double> tops, bottoms;
  for (const Box& c : line.letters) {
    const double lift = slope * (c.center_x() - line.box.center_x());
    tops.push_back(c.y0 - lift);
    bottoms.push_back(c.y1 - lift);
  }
  return {std::max(Quantile(tops, 0.02), Median(tops) - 1.2 * xh),
          std::min(Quantile(bottoms, 0.98), Median(bottoms) + 1.0 * xh)};
}

std::array<cv::Point2d, 4> LineQuad(const Phrase& line, double slope, const LineExtent& extent,
                                    double letter_height) {
  const double pad = kQuadPadding * letter_height;
  const auto corner = [&](double x, double y) {
    return cv::Point2d(x, y + slope * (x - line.box.center_x()));
  };
  const double left = line.box.x0 - pad, right = line.box.x1 + pad;
  const double top = extent.top - pad, bottom = extent.bottom + pad;
  return {corner(left, top), corner(right, top), corner(right, bottom), corner(left, bottom)};
}

}  // namespace platen::layout
