// The text of a table's cells and rows.
#pragma once

#include <string>
#include <vector>

#include "stages/formats/page_result.h"

namespace platen {

// The cell's lines, joined by spaces.
std::string CellText(const RegionResult& region, const CellResult& cell);

// The cells of each row that begin in it, from the left. `region` has a table.
std::vector<std::vector<const CellResult*>> RowsOf(const RegionResult& region);

// A row on each line, its columns parted by tabs; what a cell covers beside its first row and
// column is empty.
std::string TableText(const RegionResult& region);

}  // namespace platen
