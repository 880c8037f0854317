// The order in which blocks of a page are read. Shared by all detectors.
#pragma once

#include <vector>

#include "stages/layout/geometry.h"

namespace platen::layout {

// Indices of the boxes in reading order. `blocks` are regions of a straight page; a page's lines
// become blocks by PageBlocks.
std::vector<int> ReadingOrder(const std::vector<Box>& blocks, double letter_height);

}  // namespace platen::layout
