// A page at working size, and the steps from its pixels to its lines.
#pragma once

#include <opencv2/core.hpp>
#include <optional>
#include <vector>

#include "stages/layout/classical/phrases.h"
#include "stages/layout/components.h"
#include "stages/layout/page_blocks.h"

namespace platen::layout {

// A page scaled, flattened and binarised, with its letters measured.
struct WorkingPage {
  double scale = 1;          // working pixels per page pixel
  cv::Mat grey;              // 8-bit, as scanned
  cv::Mat flat, ink;         // 8-bit
  Components components;     // of `ink`
  double letter_height = 0;  // 0: noise, too many components
};

// Nothing if the page shows no letters. `grey`: 8-bit, one channel.
std::optional<WorkingPage> PrepareWorkingPage(const cv::Mat& grey);

// The lines of a page in working pixels of the straightened page.
struct PageLines {
  bool noise = false;  // the "letters" do not stand on lines: a photo, a halftone
  double skew_degrees = 0;
  cv::Matx23d to_straight;        // from working pixels to those of the straightened page
  std::vector<Phrase> lines;      // in reading order
  std::vector<PageBlock> blocks;  // of the lines, in the same order
  std::vector<Box> small;         // dots, commas, accents, dirt
};

// `page` is upright. Turns its images straight.
PageLines FindLines(WorkingPage& page);

}  // namespace platen::layout
