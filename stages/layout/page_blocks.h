// A page's lines as blocks in reading order: columns of text, tables, forms, pictures.
#pragma once

#include <optional>
#include <vector>

#include "stages/layout/geometry.h"
#include "stages/layout/tables.h"

namespace platen::layout {

struct PageBlock {
  Box box;
  std::vector<int> lines;    // indices, in reading order; none: a picture
  std::optional<Grid> grid;  // of a table or form; its cells' lines are those of the block
};

// What stands on a straight page.
struct PageMarks {
  const std::vector<Box>& lines;
  const Rulings& rulings;
  const std::vector<Box>& pictures;
};

// Every line and every picture is in one block.
std::vector<PageBlock> PageBlocks(const PageMarks& marks, double letter_height);

}  // namespace platen::layout
