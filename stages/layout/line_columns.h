// Lines that stand below one another, and which of those columns are read together, row by row.
#pragma once

#include <vector>

#include "stages/layout/geometry.h"

namespace platen::layout {

// Lines that are read as one.
struct LineGroup {
  std::vector<int> lines;  // indices: those of a column from the top, or row by row
  bool in_rows = false;    // of a table or form
};

// Whether two lines stand beside each other on one row.
bool OnOneRow(const Box& a, const Box& b);

// Every line is in one group. `lines` in any order; in pixels of a straight page.
std::vector<LineGroup> GroupLines(const std::vector<Box>& lines, double letter_height);

}  // namespace platen::layout
