#include "stages/layout/classical/skew.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace platen::layout {
namespace {

constexpr double kLargestSkew = 6.0;
constexpr double kCoarseStep = 0.2;
constexpr double kFineStep = 0.02;
constexpr size_t kFewestLetters = 20;
// An angle must make the baselines this much sharper than 0 does.
constexpr double kClearlySharper = 1.01;

struct BaselinePoint {
  double x, y;  // bottom centre of a letter
  double weight;
};

std::vector<BaselinePoint> BaselinePoints(const std::vector<Component>& components, double xh) {
  std::vector<BaselinePoint> points;
  for (const Component& c : components) {
    if (c.height <= 0.6 * xh || c.height >= 2.4 * xh || c.width <= 0.15 * xh || c.width >= 6 * xh) {
      continue;
    }
    points.push_back({c.x + c.width / 2.0, static_cast<double>(c.y + c.height),
                      std::min(static_cast<double>(c.width), 2 * xh)});
  }
  return points;
}

// Histogram of the points' heights along lines at this angle. A point is shared between two bins in
// proportion.
std::vector<double> HeightHistogram(const std::vector<BaselinePoint>& points, double bin,
                                    double degrees) {
  const double slope = std::tan(degrees * std::numbers::pi / 180);
  double lowest = points.front().y - points.front().x * slope;
  double highest = lowest;
  for (const BaselinePoint& p : points) {
    const double height = p.y - p.x * slope;
    lowest = std::min(lowest, height);
    highest = std::max(highest, height);
  }
  std::vector<double> histogram(static_cast<size_t>((highest - lowest) / bin) + 2);
  for (const BaselinePoint& p : points) {
    const double place = (p.y - p.x * slope - lowest) / bin;
    const auto i = static_cast<size_t>(place);
    const double share = place - static_cast<double>(i);
    histogram[i] += p.weight * (1 - share);
    histogram[i + 1] += p.weight * share;
  }
  return histogram;
}

// Sum of squares of that histogram: large when the points fall into few bins.
double Sharpness(const std::vector<BaselinePoint>& points, double bin, double degrees) {
  double sum = 0;
  for (double h : HeightHistogram(points, bin, degrees)) sum += h * h;
  return sum;
}

struct Peak {
  double degrees;
  double sharpness;
};

Peak SharpestAngle(const std::vector<BaselinePoint>& points, double bin, double from, double step,
                   int steps) {
  Peak best = {from, -1};
  for (int i = 0; i <= steps; ++i) {
    const double degrees = from + i * step;
    const double sharpness = Sharpness(points, bin, degrees);
    if (sharpness > best.sharpness) best = {degrees, sharpness};
  }
  return best;
}

}  // namespace

double FindSkew(const std::vector<Component>& components, double letter_height) {
  const std::vector<BaselinePoint> points = BaselinePoints(components, letter_height);
  if (points.size() < kFewestLetters) return 0;
  const double bin = letter_height / 4;
  const int coarse_steps = static_cast<int>(std::lround(2 * kLargestSkew / kCoarseStep));
  const int fine_steps = static_cast<int>(std::lround(2 * kCoarseStep / kFineStep));
  const Peak coarse = SharpestAngle(points, bin, -kLargestSkew, kCoarseStep, coarse_steps);
  const Peak fine = SharpestAngle(points, bin, coarse.degrees - kCoarseStep, kFineStep, fine_steps);
  if (fine.sharpness < kClearlySharper * Sharpness(points, bin, 0)) return 0;
  return fine.degrees;
}

double LineContrast(const std::vector<Component>& components, double letter_height,
                    double skew_degrees) {
  const std::vector<BaselinePoint> points = BaselinePoints(components, letter_height);
  if (points.size() < kFewestLetters) return 0;
  double sum = 0, squares = 0;
  const std::vector<double> histogram = HeightHistogram(points, letter_height / 4, skew_degrees);
  for (double h : histogram) {
    sum += h;
    squares += h * h;
  }
  return squares * static_cast<double>(histogram.size()) / (sum * sum);
}

}  // namespace platen::layout
