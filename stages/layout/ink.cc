#include "stages/layout/ink.h"

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "stages/layout/components.h"

namespace platen {
namespace {

// The page is looked at in square cells of whole pixels: about so many along its long side (0.5 mm
// of an A4 page), each at least kSmallestCell wide. Means over cells leave little of a scanner's
// noise.
constexpr int kCells = 580;
constexpr int kSmallestCell = 2;
// The ground of a cell is the median around it. Edges of large areas, dark or light, are part of
// the ground; strokes and the texture of pictures are not.
constexpr int kGroundCells = 31;
// Grey levels by which a cell with ink differs from its ground. Print that shines through and noise
// stay below.
constexpr int kContrast = 26;
// A group of cells is a speck or a fold if smaller or thinner.
constexpr int kSmallestGroup = 5;
constexpr int kThinnestGroup = 3;
// A large group is longer than this. If it has fewer cells than kRuling for each of its length, it
// is a ruling that lies askew; words have 2.5 and more.
constexpr int kLargeGroup = 32;
constexpr double kRuling = 2.3;
// A small group that holds a square of kSolid is no letter: punch holes, corners of borders.
constexpr int kSolid = 5;
// What lies wholly within this share of the page's shorter side along an edge is dirt: 5 mm of A4.
constexpr double kMargin = 0.025;
// All groups of a page number of two small digits have 25 cells and more, those of blank pages 0.
constexpr int kFewestCells = 12;

// Means over whole cells; the rest of a cell at the right and lower edge is left out.
cv::Mat Cells(const Image& page) {
  const cv::Mat rgb(page.height, page.width, CV_8UC3, const_cast<uint8_t*>(page.rgb.data()));
  cv::Mat grey, cells;
  cv::cvtColor(rgb, grey, cv::COLOR_RGB2GRAY);
  const int cell = std::max(kSmallestCell, std::max(page.width, page.height) / kCells);
  const cv::Size size(page.width / cell, page.height / cell);
  if (size.empty()) return cells;
  cv::resize(grey(cv::Rect(cv::Point(0, 0), size * cell)), cells, size, 0, 0, cv::INTER_AREA);
  return cells;
}

// 1 where a cell differs from its ground.
cv::Mat Marks(const cv::Mat& cells) {
  cv::Mat ground, marks;
  cv::medianBlur(cells, ground, kGroundCells);
  cv::absdiff(cells, ground, marks);
  cv::threshold(marks, marks, kContrast, 1, cv::THRESH_BINARY);
  return marks;
}

// Touches the page's edge, or lies wholly in the margin along it.
bool IsAtEdge(const cv::Rect& group, cv::Size page) {
  const int margin = static_cast<int>(kMargin * std::min(page.width, page.height));
  const cv::Point end = group.br();
  if (group.x == 0 || group.y == 0 || end.x == page.width || end.y == page.height) return true;
  return end.x <= margin || end.y <= margin || group.x >= page.width - margin ||
         group.y >= page.height - margin;
}

// `solid`: it holds a square of kSolid cells.
bool IsInk(const layout::Component& group, bool solid, cv::Size page) {
  const int area = group.area;
  if (area < kSmallestGroup || std::min(group.width, group.height) < kThinnestGroup) return false;
  if (IsAtEdge(group.rect(), page)) return false;
  const int length = std::max(group.width, group.height);
  return length > kLargeGroup ? area >= kRuling * length : !solid;
}

}  // namespace

bool HasInk(const Image& page) {
  if (page.empty()) return false;
  const cv::Mat page_cells = Cells(page);
  if (page_cells.empty()) return false;
  const cv::Mat marks = Marks(page_cells);
  const layout::Components groups = layout::FindComponents(marks);
  cv::Mat core;
  cv::erode(marks, core, cv::Mat(kSolid, kSolid, CV_8U, cv::Scalar(1)));
  int with_ink = 0;
  for (const layout::Component& group : groups.items) {
    if (IsInk(group, groups.Touches(group, core), marks.size())) with_ink += group.area;
  }
  return with_ink >= kFewestCells;
}

}  // namespace platen
