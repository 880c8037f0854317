#include "stages/layout/classical/charts.h"

#include <algorithm>
#include <cmath>

namespace platen::layout {
namespace {

// In letter heights unless said otherwise.
constexpr double kMeet = 1.5;   // axes that come so near meet
constexpr double kOn = 1.5;     // a picture that begins within this of an axis stands on it
constexpr double kShort = 6.0;  // an axis is longer
constexpr double kReach = 2.2;  // labels lie within this of the chart
constexpr double kLabelGap = 1.2;
constexpr double kWidestLabel = 0.25;  // of the chart
constexpr size_t kMostLetters = 8;     // of a label
constexpr size_t kFewestLabels = 3;

Box Widened(const Box& box, double by) {
  return {box.x0 - by, box.y0 - by, box.x1 + by, box.y1 + by};
}

bool Overlap(const Box& a, const Box& b) { return OverlapX(a, b) > 0 && OverlapY(a, b) > 0; }

// The areas over a horizontal axis, as high as the upright axis at one of its ends.
std::vector<Box> AreasOfAxes(const Rulings& rulings, double xh) {
  std::vector<Box> areas;
  for (const Ruling& base : rulings.across) {
    for (const Ruling& side : rulings.down) {
      const bool at_end =
          std::abs(side.at - base.from) < kMeet * xh || std::abs(side.at - base.to) < kMeet * xh;
      const bool on_base = std::abs(side.to - base.at) < kMeet * xh;
      const bool is_long = side.to - side.from > kShort * xh && base.to - base.from > kShort * xh;
      if (at_end && on_base && is_long) areas.push_back({base.from, side.from, base.to, base.at});
    }
  }
  return areas;
}

// Around pictures that stand on one height, as wide bars do, over which no axis can be seen.
std::vector<Box> AreasOfBars(const std::vector<Box>& pictures, double xh) {
  std::vector<Box> areas;
  for (const Box& first : pictures) {
    Box area = first;
    int bars = 0;
    for (const Box& other : pictures) {
      if (std::abs(other.y1 - first.y1) >= kOn * xh) continue;
      area = Union(area, other);
      ++bars;
    }
    if (bars > 1) areas.push_back(area);
  }
  return areas;
}

// Whether the picture stands on the lower side of the area.
bool StandsIn(const Box& area, const Box& picture, double xh) {
  return Overlap(Widened(area, xh), picture) && std::abs(picture.y1 - area.y1) < kOn * xh &&
         picture.x0 > area.x0 - kOn * xh && picture.x1 < area.x1 + kOn * xh;
}

// How many labels a line is; 0: it is text.
size_t Labels(const Phrase& line, double widest, double xh) {
  std::vector<Box> letters = line.letters;
  std::sort(letters.begin(), letters.end(), LeftOf);
  size_t labels = 0;
  for (size_t i = 0; i < letters.size();) {
    size_t end = i + 1;
    double right = letters[i].x1;
    while (end < letters.size() && letters[end].x0 - right < kLabelGap * xh) {
      right = std::max(right, letters[end++].x1);
    }
    if (end - i > kMostLetters || right - letters[i].x0 > widest) return 0;
    ++labels;
    i = end;
  }
  return labels;
}

// Whether there were any.
bool LeaveOutLabels(const Box& chart, double xh, std::vector<Phrase>& lines) {
  const Box reach = Widened(chart, kReach * xh);
  const auto is_label = [&](const Phrase& line) {
    const Box& b = line.box;
    const bool inside = b.center_x() > reach.x0 && b.center_x() < reach.x1 &&
                        b.center_y() > reach.y0 && b.center_y() < reach.y1;
    return inside && Labels(line, kWidestLabel * chart.width(), xh) > 0;
  };
  size_t labels = 0;
  for (const Phrase& line : lines) {
    if (is_label(line)) labels += Labels(line, kWidestLabel * chart.width(), xh);
  }
  if (labels < kFewestLabels) return false;
  std::erase_if(lines, is_label);
  return true;
}

// Whether a line of more than `letters` letters stands in the area or reaches into it.
bool HoldsLine(const Box& area, size_t letters, const std::vector<Phrase>& lines) {
  return std::any_of(lines.begin(), lines.end(), [&](const Phrase& line) {
    return line.letters.size() > letters && OverlapX(line.box, area) > 0 &&
           line.box.center_y() > area.y0 && line.box.center_y() < area.y1;
  });
}

}  // namespace

void CompleteCharts(const Rulings& rulings, double letter_height, std::vector<Box>& pictures,
                    std::vector<Phrase>& lines) {
  const auto complete = [&](const Box& area, bool on_axes) {
    Box chart = area;
    const auto stands = [&](const Box& p) { return StandsIn(area, p, letter_height); };
    for (const Box& picture : pictures) {
      if (stands(picture)) chart = Union(chart, picture);
    }
    const bool drawn = std::any_of(pictures.begin(), pictures.end(), stands);
    if (HoldsLine(area, drawn ? kMostLetters : 0, lines)) return;  // edges of a page, of a table
    // Labels outside the axes tell a chart whose bars are too light or too few to be a picture.
    const bool labelled = LeaveOutLabels(chart, letter_height, lines);
    if (!labelled && !(drawn && on_axes)) return;
    std::erase_if(pictures, stands);
    pictures.push_back(chart);
  };
  for (const Box& area : AreasOfAxes(rulings, letter_height)) complete(area, true);
  for (const Box& area : AreasOfBars(pictures, letter_height)) complete(area, false);
  std::sort(pictures.begin(), pictures.end(), LeftOf);
}

}  // namespace platen::layout
