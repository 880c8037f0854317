// Lines and crops of a detected layout, for tests.
#pragma once

#include <vector>

#include "stages/layout/crops.h"

namespace platen::testing {

// Of all regions, in reading order.
inline std::vector<LayoutLine> LinesOf(const PageLayout& layout) {
  std::vector<LayoutLine> lines;
  for (const LayoutRegion& region : layout.regions) {
    lines.insert(lines.end(), region.lines.begin(), region.lines.end());
  }
  return lines;
}

inline std::vector<Crop> CropsOf(const Image& page, PageLayout layout, const ReadingConfig& reading,
                                 double text_height = 0) {
  ReadOptions options;
  options.text_height = text_height;
  ApplyReadOptions(reading, options, page.width, page.height, layout);
  return MakeCrops(page, layout, reading, options);
}

}  // namespace platen::testing
