// From what was recognised on each crop to the result of the page.
#pragma once

#include <string>
#include <vector>

#include "stages/formats/page_result.h"
#include "stages/layout/layout.h"

namespace platen {

// Where one crop of a page came from; without its pixels.
struct CropOrigin {
  std::array<PointF, 4> quad = {};
  int line = 0;  // index into PageLayout::lines
  int part = 0;  // piece of a line that was cut
};

// What became of one crop.
struct CropReading {
  CropOrigin origin;
  std::string text;                  // UTF-8, as the model wrote it
  std::vector<float> probabilities;  // of each generated token
  std::vector<std::string> warnings;
  std::string error;  // empty: read
};

struct PageGeometry {
  int page = 0;   // 1-based
  int width = 0;  // of the upright page
  int height = 0;
  PageLayout layout;
  bool has_ink = false;  // text was found, or the page is not blank
};

// Joins the pieces of cut lines by a space, lines of a block by line breaks, and blocks to a page,
// in reading order. With kLine every crop is (a piece of) a line; otherwise every crop is a region.
// `label` names the regions: "text", "table" or "formula".
// A crop that failed leaves an error at its line and region; the rest of the page is kept.
// `readings` are in the order of the crops. Pure.
PageResult AssemblePage(const PageGeometry& geometry, const std::vector<CropReading>& readings,
                        ReadingConfig::Granularity granularity, const std::string& label);

}  // namespace platen
