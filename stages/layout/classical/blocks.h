// Lines gathered into paragraphs.
#pragma once

#include <vector>

#include "stages/layout/geometry.h"

namespace platen::layout {

// A block number for each line, ascending from 0. `boxes` are in reading order: a line continues
// the block of the line before it if it stands below it, as close and as large.
std::vector<int> GroupBlocks(const std::vector<Box>& boxes, double letter_height);

}  // namespace platen::layout
