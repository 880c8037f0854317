#include "stages/layout/classical/hatching.h"

#include <algorithm>
#include <limits>

namespace platen::layout {
namespace {

// In letter heights.
constexpr double kSegment = 8.0;     // of a line: a long one may slope
constexpr double kReach = 1.2;       // above and below a line there is white within this
constexpr double kInside = 0.2;      // ... also of its own box, which holds what hangs from it
constexpr double kMostAround = 0.1;  // of print: less than 0.01
// A hatched area: so many such lines
constexpr size_t kFewestLines = 6;
constexpr double kHatched = 0.05;  // ... and this share of the lines there
constexpr double kFewLetters = 3;  // of most lines there: hatching breaks up into pieces

double InkShare(const InkSums& ink, int x0, int x1, int y0, int y1) {
  return static_cast<double>(ink.In(x0, y0, x1, y1)) / std::max(1, (x1 - x0) * (y1 - y0));
}

// The least share of a row among those from y0 to y1.
double LightestRow(const InkSums& ink, int x0, int x1, double y0, double y1) {
  const int first = std::clamp(static_cast<int>(y0), 0, ink.page().height - 1);
  const int last = std::clamp(static_cast<int>(y1), first, ink.page().height - 1);
  double least = std::numeric_limits<double>::max();
  for (int y = first; y <= last; ++y) least = std::min(least, InkShare(ink, x0, x1, y, y + 1));
  return least;
}

double InkAroundSegment(const InkSums& ink, int x0, int x1, const Box& line, double xh) {
  const int top = std::clamp(static_cast<int>(line.y0), 0, ink.page().height - 1);
  const int bottom = std::clamp(static_cast<int>(line.y1), top + 1, ink.page().height);
  const double own = InkShare(ink, x0, x1, top, bottom);
  if (own == 0) return 0;
  const double above = LightestRow(ink, x0, x1, line.y0 - kReach * xh, line.y0 + kInside * xh);
  const double below = LightestRow(ink, x0, x1, line.y1 - kInside * xh, line.y1 + kReach * xh);
  return std::min(above, below) / own;
}

}  // namespace

double InkAround(const InkSums& ink, const Box& line, double letter_height) {
  const int x0 = std::clamp(static_cast<int>(line.x0), 0, ink.page().width - 1);
  const int x1 = std::clamp(static_cast<int>(line.x1), x0 + 1, ink.page().width);
  const int segments = std::max(1, static_cast<int>((x1 - x0) / (kSegment * letter_height)));
  std::vector<double> around;
  for (int i = 0; i < segments; ++i) {
    const int start = x0 + (x1 - x0) * i / segments, end = x0 + (x1 - x0) * (i + 1) / segments;
    around.push_back(InkAroundSegment(ink, start, end, line, letter_height));
  }
  return Median(std::move(around));
}

std::vector<Box> HatchedAreas(const InkSums& ink, const std::vector<Phrase>& lines,
                              double letter_height) {
  std::vector<Box> hatched;
  for (const Phrase& line : lines) {
    if (InkAround(ink, line.box, letter_height) > kMostAround) hatched.push_back(line.box);
  }
  if (hatched.size() < kFewestLines) return {};
  Box area = hatched.front();
  for (const Box& box : hatched) area = Union(area, box);
  std::vector<double> letters;  // of the lines there
  for (const Phrase& line : lines) {
    if (OverlapX(line.box, area) > 0.5 * line.box.width() && OverlapY(line.box, area) > 0) {
      letters.push_back(static_cast<double>(line.letters.size()));
    }
  }
  if (static_cast<double>(hatched.size()) < kHatched * static_cast<double>(letters.size()))
    return {};
  if (Median(std::move(letters)) > kFewLetters) return {};
  return {area};
}

}  // namespace platen::layout
