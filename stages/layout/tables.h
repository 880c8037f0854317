// Tables and forms made of text lines: cells between rulings, or lines that stand in rows and
// columns.
#pragma once

#include <optional>
#include <vector>

#include "stages/layout/geometry.h"

namespace platen::layout {

// A printed rule: `at` across its direction, from end to end along it. Pixels of a straight page.
struct Ruling {
  double at = 0;
  double from = 0, to = 0;
};

struct Rulings {
  std::vector<Ruling> across;  // horizontal, `at` is y
  std::vector<Ruling> down;    // vertical, `at` is x
};

struct GridCell {
  int row = 0, column = 0;
  int row_span = 1, column_span = 1;
  Box box;                 // its room, not its ink
  std::vector<int> lines;  // in reading order
};

// Cells row by row. Spans do not overlap and stay within the grid.
struct Grid {
  int rows = 0, columns = 0;
  bool is_table = true;  // false: a form, an address beside a date: rows to be kept together
  Box box;
  std::vector<GridCell> cells;
};

// Rows of lines that share heights, from the top; each from the left. `group`: indices of lines.
std::vector<std::vector<int>> BandsOf(const std::vector<Box>& lines, std::vector<int> group);

// Grids that rulings draw around at least two rows and two columns of cells.
std::vector<Grid> FindRuledTables(const std::vector<Box>& lines, const Rulings& rulings,
                                  double letter_height);

// The x at which white parts the columns of boxes that stand in rows, and the outer sides; nothing
// unless most of the rows, four or more, have something in three columns.
std::vector<double> TableEdges(const std::vector<Box>& boxes, double letter_height);

// The grid that `group`, lines in rows, makes by its white channels; nothing if it has one row or
// one column. A table from three rows and three columns on, or two columns between rulings.
std::optional<Grid> GridOfRows(const std::vector<Box>& lines, const std::vector<int>& group,
                               const Rulings& rulings, double letter_height);

}  // namespace platen::layout
