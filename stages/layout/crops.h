// The images a page's regions are read from.
#pragma once

#include <array>
#include <vector>

#include "model/support/image.h"
#include "stages/layout/layout.h"
#include "stages/layout/read_options.h"

namespace platen {

// A white gap between words: where it begins and ends, as shares of the crop's width.
struct WordGap {
  float start = 0;
  float end = 0;
};

// Where a crop comes from.
struct CropOrigin {
  std::array<PointF, 4> quad = {};  // on the upright page
  int region = 0;                   // index into PageLayout::regions
  int line = kWholeRegion;          // index into the region's lines
  int part = 0;                     // 0, 1, ...: pieces of a line that was cut at word gaps
  std::vector<WordGap> gaps;        // of a line: white gaps that may part words, from the left

  static constexpr int kWholeRegion = -1;
};

// What the model is shown at once.
struct Crop {
  Image image;
  CropOrigin origin;
};

// Crops of one page (already upright), each region at the granularity and geometry the model was
// trained for: lines are scaled by the page's letter height and baseline, not by each line's ink;
// lines wider than max_width are cut at word gaps. A page whose letters could not be measured gives
// no line crops; a region that is not to be read gives none.
std::vector<Crop> MakeCrops(const Image& page, const PageLayout& layout,
                            const ReadingConfig& reading, const ReadOptions& options);

}  // namespace platen
