// The seam for learned layout models: what they find is merged with the lines of the classical
// detector, so they need to know nothing of lines, reading order or crops.
#pragma once

#include <memory>
#include <vector>

#include "stages/layout/layout.h"

namespace platen {

class RegionDetector {
 public:
  virtual ~RegionDetector() = default;
  // Regions of an upright page with kind, quad, box and score; without lines, in any order.
  // Thread-safe.
  virtual std::vector<LayoutRegion> Detect(const Image& upright_page) const = 0;
};

// The classical detector's page (turn, skew, lines) with the regions of `regions`.
std::unique_ptr<LayoutDetector> MakeMergingDetector(std::unique_ptr<LayoutDetector> lines,
                                                    std::unique_ptr<RegionDetector> regions);

}  // namespace platen
