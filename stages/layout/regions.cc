#include "stages/layout/regions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "stages/layout/geometry.h"
#include "stages/layout/reading_order.h"

namespace platen {
namespace {

constexpr double kLeastCover = 0.5;

layout::Box ToBox(const BoxF& box) { return {box.x0, box.y0, box.x1, box.y1}; }

// The share of the line that lies in the region.
double Cover(const LayoutRegion& region, const LayoutLine& line) {
  const layout::Box outer = ToBox(region.box), inner = ToBox(line.box);
  const double area = inner.width() * inner.height();
  if (area <= 0) return 0;
  return std::max(0.0, OverlapX(outer, inner)) * std::max(0.0, OverlapY(outer, inner)) / area;
}

// The index of the region that covers most of the line, the first of equals; -1: none covers it.
int OwnerOf(const LayoutLine& line, const std::vector<LayoutRegion>& regions) {
  int owner = -1;
  double most = 0;
  for (size_t i = 0; i < regions.size(); ++i) {
    const double cover = Cover(regions[i], line);
    if (cover < kLeastCover || cover <= most) continue;
    most = cover;
    owner = static_cast<int>(i);
  }
  return owner;
}

// The detected table that covers all lines of a region, or nullptr.
LayoutRegion* TableAround(const LayoutRegion& region, std::vector<LayoutRegion>& detected) {
  const int owner = OwnerOf(region.lines.front(), detected);
  if (owner < 0 || detected[static_cast<size_t>(owner)].kind != RegionKind::kTable) return nullptr;
  const bool all =
      std::all_of(region.lines.begin(), region.lines.end(),
                  [&](const LayoutLine& line) { return OwnerOf(line, detected) == owner; });
  return all ? &detected[static_cast<size_t>(owner)] : nullptr;
}

size_t LinesInCells(const TableLayout& table) {
  size_t lines = 0;
  for (const TableCell& cell : table.cells) lines += cell.lines.size();
  return lines;
}

// Their places when they are in reading order.
std::vector<int> OrderOf(double letter_height, const std::vector<LayoutRegion>& regions) {
  std::vector<layout::Box> boxes;
  for (const LayoutRegion& region : regions) boxes.push_back(ToBox(region.box));
  return layout::ReadingOrder(boxes, letter_height);
}

// The first `known` regions keep their order; each of the others follows the one of them that comes
// before it in `order`.
std::vector<int> WithKnownOrder(const std::vector<int>& order, int known) {
  std::vector<std::vector<int>> behind(static_cast<size_t>(known) + 1);  // 0: before all
  size_t last = 0;
  for (const int i : order) {
    if (i < known) {
      last = static_cast<size_t>(i) + 1;
    } else {
      behind[last].push_back(i);
    }
  }
  std::vector<int> out = behind[0];
  for (int i = 0; i < known; ++i) {
    out.push_back(i);
    const std::vector<int>& followers = behind[static_cast<size_t>(i) + 1];
    out.insert(out.end(), followers.begin(), followers.end());
  }
  return out;
}

}  // namespace

Extent ExtentAlong(const std::vector<LayoutLine>& lines, double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  const double ax = std::cos(angle), ay = std::sin(angle);
  Extent extent = {1e9, 1e9, -1e9, -1e9};
  for (const LayoutLine& line : lines) {
    for (const PointF& p : line.quad) {
      const double x = static_cast<double>(p.x), y = static_cast<double>(p.y);
      const double along = x * ax + y * ay, down = y * ax - x * ay;
      extent = {std::min(extent.x0, along), std::min(extent.y0, down), std::max(extent.x1, along),
                std::max(extent.y1, down)};
    }
  }
  return extent;
}

LayoutRegion RegionOfLines(std::vector<LayoutLine> lines, double skew_degrees) {
  LayoutRegion region;
  region.box = lines.front().box;
  for (const LayoutLine& line : lines) {
    region.box = {std::min(region.box.x0, line.box.x0), std::min(region.box.y0, line.box.y0),
                  std::max(region.box.x1, line.box.x1), std::max(region.box.y1, line.box.y1)};
  }
  const double angle = skew_degrees * std::numbers::pi / 180;
  const double ax = std::cos(angle), ay = std::sin(angle);
  const auto corner = [&](double along, double across) {
    return PointF{static_cast<float>(along * ax - across * ay),
                  static_cast<float>(along * ay + across * ax)};
  };
  const Extent e = ExtentAlong(lines, skew_degrees);
  region.quad = {corner(e.x0, e.y0), corner(e.x1, e.y0), corner(e.x1, e.y1), corner(e.x0, e.y1)};
  region.lines = std::move(lines);
  return region;
}

PageLayout MergeRegions(std::vector<LayoutRegion> detected, PageLayout page, RegionOrder order) {
  std::vector<LayoutRegion> uncovered;
  for (LayoutRegion& region : page.regions) {
    if (region.lines.empty()) continue;  // a picture: the detector knows better
    const bool untouched =
        std::all_of(region.lines.begin(), region.lines.end(),
                    [&](const LayoutLine& line) { return OwnerOf(line, detected) < 0; });
    if (untouched) {
      uncovered.push_back(std::move(region));
      continue;
    }
    if (region.table) {
      LayoutRegion* table = TableAround(region, detected);
      if (table != nullptr && table->lines.empty()) table->table = std::move(region.table);
    }
    std::vector<LayoutLine> run;
    const auto close = [&] {
      if (!run.empty())
        uncovered.push_back(RegionOfLines(std::exchange(run, {}), page.skew_degrees));
    };
    for (LayoutLine& line : region.lines) {
      const int owner = OwnerOf(line, detected);
      if (owner < 0) {
        run.push_back(line);
      } else {
        close();
        detected[static_cast<size_t>(owner)].lines.push_back(line);
      }
    }
    close();
  }
  for (LayoutRegion& region : detected) {
    region.source = RegionSource::kDetector;
    if (region.table && LinesInCells(*region.table) != region.lines.size()) region.table.reset();
  }
  const auto known = static_cast<int>(detected.size());
  std::vector<LayoutRegion> all = std::move(detected);
  std::move(uncovered.begin(), uncovered.end(), std::back_inserter(all));
  std::vector<int> places = OrderOf(page.letter_height, all);
  if (order == RegionOrder::kReading) places = WithKnownOrder(places, known);
  page.regions.clear();
  for (const int i : places) page.regions.push_back(std::move(all[static_cast<size_t>(i)]));
  return page;
}

}  // namespace platen
