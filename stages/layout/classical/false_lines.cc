#include "stages/layout/classical/false_lines.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "stages/layout/strip_index.h"

namespace platen::layout {
namespace {

// A column of short lines along an edge, in letter heights: it ends within kEdgeColumn of the edge
// and starts within kEdgeStart. From kEdgeLines lines on it is a shadow or the neighbouring page.
constexpr double kEdgeColumn = 4.0;
constexpr double kEdgeStart = 2.0;
constexpr int kEdgeLines = 4;

bool IsSpeckOrStroke(const Phrase& line, const PageFrame& page) {
  const double xh = page.letter_height;
  const Box& b = line.box;
  const double w = b.width(), h = b.height();
  const size_t n = line.letters.size();
  if (h < 0.5 * xh || w < 0.25 * xh) return true;
  const bool dash = w > 8 * xh && h < 1.2 * xh;
  if (n == 1 && (h < 0.8 * xh || dash)) return true;
  const bool at_edge =
      b.y0 < 2 || b.x0 < 2 || b.y1 > page.size.height - 2 || b.x1 > page.size.width - 2;
  if (n <= 2 && at_edge) return true;
  return n == 1 && w < 0.35 * h && h > 2.4 * xh;  // an upright stroke
}

// Fragments inside a line of at least twice the size.
void DropFragments(double xh, std::vector<Phrase>& lines) {
  std::vector<Box> boxes;
  for (const Phrase& line : lines) boxes.push_back(line.box);
  const StripIndex index(boxes, 3 * xh);
  std::vector<int> near;
  std::vector<Phrase> kept;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Box& box = boxes[i];
    const double area = box.width() * box.height();
    index.Find(box.y0, box.y1, near);
    const bool inside = std::any_of(near.begin(), near.end(), [&](int j) {
      const double common =
          std::max(0.0, OverlapX(box, boxes[j])) * std::max(0.0, OverlapY(box, boxes[j]));
      return common > 0.6 * area && boxes[j].width() * boxes[j].height() > 2 * area;
    });
    if (!inside) kept.push_back(std::move(lines[i]));
  }
  lines = std::move(kept);
}

// Dirt along one upright edge. `inset`: how far a line's near and far side lie from that edge.
template <typename Inset>
void DropEdgeColumn(const PageFrame& page, Inset inset, std::vector<Phrase>& lines) {
  const double edge = page.EdgeTolerance();
  const auto in_column = [&](const Phrase& line) {
    const auto [near, far] = inset(line.box);
    return near < edge + kEdgeStart * page.letter_height &&
           far < edge + kEdgeColumn * page.letter_height;
  };
  if (std::count_if(lines.begin(), lines.end(), in_column) < kEdgeLines) return;
  std::erase_if(lines, in_column);
}

}  // namespace

double PageFrame::EdgeTolerance() const {
  return 2 + std::abs(std::tan(skew_degrees * std::numbers::pi / 180)) *
                 std::max(size.width, size.height) / 2;
}

std::vector<Phrase> DropFalseLines(const std::vector<Phrase>& lines, const PageFrame& page) {
  std::vector<Phrase> kept;
  for (const Phrase& line : lines) {
    if (!IsSpeckOrStroke(line, page)) kept.push_back(line);
  }
  DropFragments(page.letter_height, kept);
  const double width = page.size.width;
  DropEdgeColumn(
      page, [](const Box& b) { return std::pair(b.x0, b.x1); }, kept);
  DropEdgeColumn(
      page, [&](const Box& b) { return std::pair(width - b.x1, width - b.x0); }, kept);
  return kept;
}

}  // namespace platen::layout
