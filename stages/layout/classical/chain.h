// Joins letters that stand beside each other.
#pragma once

#include <functional>
#include <vector>

#include "stages/layout/geometry.h"

namespace platen::layout {

// What may be neighbours on a line.
struct ChainRule {
  double gap_floor;  // the gap is at most max(gap_floor, gap_factor * height of the left box)
  double gap_factor;
  double height_ratio = 3.2;  // the heights are within this
  double overlap = 0.45;      // common height, of the lower of the two
};

// Joins each box with its nearest right neighbour, and with those that overlap it from left to
// right as well (parts of one glyph), but for pairs that `apart` says do not belong together.
// `boxes` are sorted by LeftOf. Returns the chains as ascending indices, in the order of their
// first boxes.
std::vector<std::vector<int>> Chain(
    const std::vector<Box>& boxes, const ChainRule& rule,
    const std::function<bool(const Box& left, const Box& right)>& apart = nullptr);

}  // namespace platen::layout
