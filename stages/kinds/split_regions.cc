#include "stages/kinds/split_regions.h"

#include <span>
#include <utility>
#include <vector>

#include "stages/formats/list_mark.h"
#include "stages/join_results.h"
#include "stages/kinds/text_clues.h"

namespace platen {
namespace {

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
  const bool bolder = rest.weight > 0 && head.weight >= kBold * rest.weight;
  return larger || (bolder && first.box.x1 < 0.8 * region.box.x1);
}

}  // namespace

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
    if (starts.size() == 1 && !HangsOut(region, starts[0], body)) {  // a dash in a paragraph
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

}  // namespace platen
