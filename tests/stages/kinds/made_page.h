// Hand-made pages of text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stages/formats/page_result.h"

namespace platen::testing {

struct Place {
  double x = 100, y = 0, width = 600;
  double x_height = 10;
  double weight = 0.3;
};

inline RegionResult Text(const std::vector<std::string>& lines, Place place) {
  RegionResult region;
  for (const std::string& text : lines) {
    LineResult line;
    line.text = text;
    line.x_height = place.x_height;
    line.weight = place.weight;
    line.box = {place.x, place.y, place.x + place.width, place.y + 2 * place.x_height};
    line.confidence = {2, 0.9, 0.8};
    place.y += 3 * place.x_height;
    region.lines.push_back(line);
    if (!region.text.empty()) region.text += '\n';
    region.text += text;
  }
  const ResultBox &first = region.lines.front().box, &last = region.lines.back().box;
  region.box = {first.x0, first.y0, first.x1, last.y1};
  region.confidence = {static_cast<int>(2 * lines.size()), 0.9, 0.8};
  return region;
}

inline RegionResult Body(double y) {
  return Text({"The committee expects the terms of delivery by", "registered post, as agreed."},
              {.y = y});
}

inline PageResult Page(std::vector<RegionResult> regions) {
  PageResult page;
  page.width = 800;
  page.height = 1200;
  page.x_height = 10;
  page.regions = std::move(regions);
  return page;
}

}  // namespace platen::testing
