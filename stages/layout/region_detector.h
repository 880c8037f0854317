// The seam for learned layout models: what they find is merged with the lines of the classical
// detector, so they need to know nothing of lines, reading order or crops.
#pragma once

#include <memory>
#include <vector>

#include "model/families/layout_model.h"
#include "stages/layout/layout.h"
#include "stages/layout/regions.h"

namespace platen {

class RegionDetector {
 public:
  virtual ~RegionDetector() = default;
  // Regions of an upright page with kind, quad, box and score; without lines. Throws Error for a
  // page it cannot cope with. Thread-safe.
  virtual std::vector<LayoutRegion> Detect(const Image& upright_page) const = 0;
  // Whether they come in reading order.
  virtual RegionOrder order() const { return RegionOrder::kAny; }
};

// What a layout model finds, under the rules for its boxes.
std::unique_ptr<RegionDetector> MakeModelDetector(std::shared_ptr<const LayoutModel> model,
                                                  BoxRules rules);

// The classical detector's page (turn, skew, lines) with the regions of `regions`. Where those
// cannot be had the page is the classical detector's alone, with a warning.
std::unique_ptr<LayoutDetector> MakeMergingDetector(std::unique_ptr<LayoutDetector> lines,
                                                    std::unique_ptr<RegionDetector> regions);

}  // namespace platen
