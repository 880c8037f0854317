#include "stages/kinds/split_regions.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "stages/formats/list_mark.h"
#include "stages/join_results.h"
#include "stages/kinds/text_clues.h"

namespace platen {
namespace {

// A mark that stands nowhere but in lists.
bool BeginsWithDot(const LineResult& line) { return line.text.starts_with("\xE2\x80\xA2"); }

// Whether a line begins left of all others of its region.
bool HangsOut(const RegionResult& region, size_t index, const Print& body) {
  for (size_t i = 0; i < region.lines.size(); ++i) {
    if (i != index && region.lines[i].box.x0 < region.lines[index].box.x0 + body.size) return false;
  }
  return true;
}

bool IsHeadLine(const RegionResult& region, double page_size) {
  const LineResult& first = region.lines[0];
  if (EndsSentence(first.text)) return false;
  const std::span<const LineResult> lines = region.lines;
  const Print head = PrintOf(lines.first(1), page_size);
  const Print rest = PrintOf(lines.subspan(1), page_size);
  const bool larger = rest.size > 0 && head.size >= kHeadingSize * rest.size;
  return larger || (StandsOut(head, rest) && first.box.x1 < 0.8 * region.box.x1);
}

}  // namespace

bool StandsOut(const Print& print, const Print& other) {
  constexpr double kBold = 1.2, kALittle = 1.05, kTogether = 1.25;
  if (other.size <= 0) return false;
  const double larger = print.size / other.size;
  const double bolder = print.weight > 0 && other.weight > 0 ? print.weight / other.weight : 1;
  return larger >= kHeadingSize || bolder >= kBold ||
         (std::min(larger, bolder) >= kALittle && larger * bolder >= kTogether);
}

bool IsPlainText(const RegionResult& region) {
  return region.kind == RegionKind::kText && !region.lines.empty() && !region.table;
}

RegionResult PartOf(const RegionResult& region, size_t begin, size_t end) {
  RegionResult part;
  part.kind = region.kind;
  part.syntax = region.syntax;
  part.score = region.score;
  for (size_t i = begin; i < end; ++i) AddLine(region.lines[i], part);
  FinishRegion(part);
  const ResultBox& box = part.box;
  part.quad = {{{box.x0, box.y0}, {box.x1, box.y0}, {box.x1, box.y1}, {box.x0, box.y1}}};
  return part;
}

void AppendRegion(const RegionResult& from, RegionResult& into) {
  for (const LineResult& line : from.lines) AddLine(line, into);
  into = PartOf(into, 0, into.lines.size());
}

double BottomOf(const LineResult& line) {
  const double baseline = (line.baseline[0].y + line.baseline[1].y) / 2;
  return baseline > 0 ? baseline : line.box.y1;
}

void SplitHeads(PageResult& page) {
  std::vector<RegionResult> regions;
  for (RegionResult& region : page.regions) {
    if (IsPlainText(region) && region.lines.size() > 1 && IsHeadLine(region, page.x_height)) {
      RegionResult rest = PartOf(region, 1, region.lines.size());
      regions.push_back(PartOf(region, 0, 1));
      regions.push_back(std::move(rest));
    } else {
      regions.push_back(std::move(region));
    }
  }
  page.regions = std::move(regions);
}

void SplitLists(const Print& body, PageResult& page) {
  std::vector<RegionResult> regions;
  for (RegionResult& region : page.regions) {
    std::vector<size_t> starts;
    for (size_t i = 0; i < region.lines.size(); ++i) {
      if (FindListMark(region.lines[i].text)) starts.push_back(i);
    }
    if (!IsPlainText(region) || starts.empty() || (starts.size() == 1 && starts[0] == 0)) {
      regions.push_back(std::move(region));
      continue;
    }
    if (starts.size() == 1 && !BeginsWithDot(region.lines[starts[0]]) &&
        !HangsOut(region, starts[0], body)) {  // a dash in a paragraph
      regions.push_back(std::move(region));
      continue;
    }
    if (starts[0] != 0) starts.insert(starts.begin(), 0);
    for (size_t k = 0; k < starts.size(); ++k) {
      const size_t end = k + 1 < starts.size() ? starts[k + 1] : region.lines.size();
      regions.push_back(PartOf(region, starts[k], end));
    }
  }
  page.regions = std::move(regions);
}

namespace {

// Whether `text` goes on with the item above it: set in under it, at the usual step, in its print.
bool Continues(const RegionResult& item, const RegionResult& text, const Print& body) {
  constexpr double kLeastIndent = 0.8, kMostIndent = 6, kMostStep = 3.6;  // x-heights
  if (!IsPlainText(text) || FindListMark(text.lines[0].text)) return false;
  const Print own = PrintOf(item.lines, body.size), other = PrintOf(text.lines, body.size);
  if (StandsOut(own, other) || StandsOut(other, own)) return false;
  const double indent = text.lines[0].box.x0 - item.lines[0].box.x0;
  const double step = BottomOf(text.lines[0]) - BottomOf(item.lines.back());
  return indent > kLeastIndent * own.size && indent < kMostIndent * own.size && step > 0 &&
         step < kMostStep * own.size;
}

}  // namespace

void JoinItems(const Print& body, PageResult& page) {
  std::vector<RegionResult> regions;
  for (RegionResult& region : page.regions) {
    const bool below_item = !regions.empty() && IsPlainText(regions.back()) &&
                            FindListMark(regions.back().lines[0].text);
    if (below_item && Continues(regions.back(), region, body)) {
      AppendRegion(region, regions.back());
    } else {
      regions.push_back(std::move(region));
    }
  }
  page.regions = std::move(regions);
}

}  // namespace platen
