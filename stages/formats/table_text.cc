#include "stages/formats/table_text.h"

#include <algorithm>

namespace platen {

std::string CellText(const RegionResult& region, const CellResult& cell) {
  std::string text;
  for (const int i : cell.lines) {
    const std::string& line = region.lines.at(static_cast<size_t>(i)).text;
    if (line.empty()) continue;
    if (!text.empty()) text += ' ';
    text += line;
  }
  return text;
}

std::vector<std::vector<const CellResult*>> RowsOf(const RegionResult& region) {
  std::vector<std::vector<const CellResult*>> rows(static_cast<size_t>(region.table->rows));
  for (const CellResult& cell : region.table->cells) {
    rows.at(static_cast<size_t>(cell.row)).push_back(&cell);
  }
  for (auto& row : rows) {
    std::stable_sort(row.begin(), row.end(), [](const CellResult* a, const CellResult* b) {
      return a->column < b->column;
    });
  }
  return rows;
}

std::string TableText(const RegionResult& region) {
  std::string text;
  for (const auto& row : RowsOf(region)) {
    std::string line;
    int column = 0;
    for (const CellResult* cell : row) {
      for (; column < cell->column; ++column) line += '\t';
      line += CellText(region, *cell);
    }
    while (!line.empty() && line.back() == '\t') line.pop_back();
    if (line.empty()) continue;
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

}  // namespace platen
