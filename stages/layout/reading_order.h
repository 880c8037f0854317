// The order in which a page's lines are read. Shared by all detectors.
#pragma once

#include <vector>

#include "stages/layout/geometry.h"

namespace platen::layout {

// Indices of the boxes in reading order: bands of lines from the top; bands that leave the same
// white channels free are columns, read one after another, or a table, read row by row.
std::vector<int> ReadingOrder(const std::vector<Box>& boxes, double letter_height);

}  // namespace platen::layout
