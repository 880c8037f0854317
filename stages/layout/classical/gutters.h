// White channels between columns of text.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "stages/layout/geometry.h"

namespace platen::layout {

class Gutters {
 public:
  // `core`: boxes of the letters of a page of this size, in pixels. `stripes`: what was taken out
  // of the print that it goes through; no gutter leads along it.
  Gutters(const std::vector<Box>& core, const std::vector<Box>& stripes, cv::Size page,
          double letter_height);

  // True if a gutter lies between `left` and `right`, at the height they share.
  bool Between(const Box& left, const Box& right) const;

 private:
  double cell_;   // pixels
  cv::Mat mask_;  // 8-bit, one per cell: 1 in a gutter
};

}  // namespace platen::layout
