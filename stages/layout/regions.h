// What all detectors share: regions made of lines, and the lines of a page given to the regions
// that a detector has found on it.
#pragma once

#include <vector>

#include "stages/layout/layout.h"

namespace platen {

// How far lines reach along a direction and across it: x along, y down from it, about the page's
// origin. `lines` is not empty.
struct Extent {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};
Extent ExtentAlong(const std::vector<LayoutLine>& lines, double degrees);

// A region around lines: its outline runs along the page's skew. `lines` is not empty.
LayoutRegion RegionOfLines(std::vector<LayoutLine> lines, double skew_degrees);

// The page's layout from the regions a detector has drawn and the lines that the classical detector
// has found. A line belongs to the region that covers most of it, at least half; lines that none
// covers stay regions of text, split where lines were taken out of the middle. No line is lost.
// A detected table has the cells of the classical one whose lines it has, those and no others.
// All regions are put in reading order. `detected` may overlap; `page` has the lines. Where the
// detector knows the order of its regions they keep it, and what it has not found stands behind
// that region which comes before it on the page.
enum class RegionOrder { kAny, kReading };
PageLayout MergeRegions(std::vector<LayoutRegion> detected, PageLayout page,
                        RegionOrder order = RegionOrder::kAny);

}  // namespace platen
