#include "stages/kinds/running_row.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/support/utf8.h"
#include "stages/kinds/print_size.h"
#include "stages/kinds/text_clues.h"

namespace platen {
namespace {

constexpr size_t kMostInRow = 3;
constexpr double kZone = 0.15;     // of the page's height, from its edge
constexpr double kMostSize = 1.3;  // x-heights of the text
constexpr size_t kMostLetters = 60;
constexpr size_t kScrapLetters = 5;
constexpr double kAtEdge = 3;       // x-heights
constexpr double kApart = 3;        // likewise
constexpr double kLeastGap = -0.1;  // likewise, to the text: boxes have a margin
constexpr double kFarApart = 2.5;   // likewise
constexpr double kSmall = 0.93;     // x-heights of the text

double Middle(const ResultBox& box) { return (box.y0 + box.y1) / 2; }

bool HasText(const RegionResult& region) { return !region.lines.empty(); }

struct Row {
  std::vector<RegionResult*> regions;
  double gap = 0;  // to the text
};

// The outermost row; empty: it is no row of short lines apart from the text.
Row OutermostRow(PageResult& page, bool top, double size) {
  const auto outer = [top](const RegionResult& a, const RegionResult& b) {
    return top ? a.box.y0 < b.box.y0 : a.box.y1 > b.box.y1;
  };
  const auto first = std::min_element(page.regions.begin(), page.regions.end(), outer);
  if (first == page.regions.end()) return {};
  ResultBox room = first->box;
  std::vector<RegionResult*> row;
  for (RegionResult& region : page.regions) {
    if (Middle(region.box) < first->box.y0 || Middle(region.box) > first->box.y1) continue;
    if (region.lines.size() != 1 || region.table) return {};
    if (CodePoints(region.text).size() > kMostLetters) return {};
    row.push_back(&region);
    room.y0 = std::min(room.y0, region.box.y0);
    room.y1 = std::max(room.y1, region.box.y1);
  }
  double least = 1e9;
  const double zone = kZone * page.height;
  if (row.size() > kMostInRow || (top ? room.y1 > zone : room.y0 < page.height - zone)) return {};
  for (const RegionResult& region : page.regions) {
    if (std::find(row.begin(), row.end(), &region) != row.end()) continue;
    const double gap = top ? region.box.y0 - room.y1 : room.y0 - region.box.y1;
    least = std::min(least, gap);
  }
  if (least < kLeastGap * size || least == 1e9) return {};
  return {std::move(row), least};
}

// The edges of all print.
ResultBox PrintOfPage(const PageResult& page) {
  ResultBox print = {1e9, 1e9, 0, 0};
  for (const RegionResult& region : page.regions) {
    if (!HasText(region)) continue;
    print = {std::min(print.x0, region.box.x0), std::min(print.y0, region.box.y0),
             std::max(print.x1, region.box.x1), std::max(print.y1, region.box.y1)};
  }
  return print;
}

bool IsMisreadNumber(const RegionResult& region, const std::vector<RegionResult*>& row,
                     const ResultBox& print, double size) {
  if (row.size() < 2 || CodePoints(region.text).size() > kScrapLetters) return false;
  if (region.box.x0 > print.x0 + kAtEdge * size && region.box.x1 < print.x1 - kAtEdge * size) {
    return false;
  }
  return std::all_of(row.begin(), row.end(), [&](const RegionResult* other) {
    const double apart = std::max(other->box.x0 - region.box.x1, region.box.x0 - other->box.x1);
    return other == &region || apart > kApart * size;
  });
}

// The row's page number, if there is one.
RegionResult* NumberOf(const Row& row, const ResultBox& print, double size) {
  RegionResult* number = nullptr;
  for (RegionResult* region : row.regions) {
    const bool plain = region->kind == RegionKind::kText;
    if (region->kind == RegionKind::kPageNumber ||
        (plain && IsMisreadNumber(*region, row.regions, print, size))) {
      number = region;
    }
  }
  return number;
}

bool HasPageNumber(const PageResult& page) {
  return std::any_of(page.regions.begin(), page.regions.end(), [](const RegionResult& region) {
    return region.kind == RegionKind::kPageNumber;
  });
}

double HeightOf(const LineResult& line) { return line.box.y1 - line.box.y0; }

// Print that is smaller than the text. Figures and capitals have no x-height: their lines are lower
// than most.
bool IsSmall(const LineResult& line, const Print& body, const PageResult& page) {
  if (line.x_height > 0) return line.x_height < kSmall * body.size;
  std::vector<double> heights;
  for (const RegionResult& region : page.regions) {
    for (const LineResult& other : region.lines) heights.push_back(HeightOf(other));
  }
  const auto middle = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2);
  std::nth_element(heights.begin(), middle, heights.end());
  return HeightOf(line) < kSmall * *middle;
}

// Whether the row is no part of the text though no number stands in it.
bool StandsApart(const Row& row, const Print& body, const PageResult& page) {
  if (row.regions.empty() || row.gap < kFarApart * body.size) return false;
  return std::all_of(row.regions.begin(), row.regions.end(), [&](const RegionResult* region) {
    if (BeginsNote(region->text)) return false;
    return IsSmall(region->lines[0], body, page) ||
           (IsCapitals(region->text) && HasPageNumber(page));
  });
}

void AssignRow(bool top, const Print& body, PageResult& page) {
  const Row row = OutermostRow(page, top, body.size);
  RegionResult* number = NumberOf(row, PrintOfPage(page), body.size);
  if (number == nullptr && !StandsApart(row, body, page)) return;
  if (number != nullptr) number->kind = RegionKind::kPageNumber;
  for (RegionResult* region : row.regions) {
    const bool told = region->kind == RegionKind::kText || region->kind == RegionKind::kHeading;
    if (!told || PrintOf(region->lines, body.size).size > kMostSize * body.size) continue;
    region->kind = top ? RegionKind::kHeader : RegionKind::kFooter;
  }
}

}  // namespace

void AssignRunningRows(const Print& body, PageResult& page) {
  AssignRow(/*top=*/true, body, page);
  AssignRow(/*top=*/false, body, page);
}

}  // namespace platen
