#include "stages/formats/markdown_table.h"

#include <algorithm>

#include "model/support/utf8.h"
#include "stages/formats/markdown_escape.h"
#include "stages/formats/table_text.h"

namespace platen {
namespace {

std::string PipeTable(const RegionResult& region) {
  std::string out;
  for (const auto& row : RowsOf(region)) {
    std::string line = "|";
    for (const CellResult* cell : row) {
      const std::string text = ShortenRuns(ToValidUtf8(CellText(region, *cell)));
      line += " " + EscapeMarkdownCell(text) + " |";
    }
    if (!out.empty()) {
      out += "\n" + line;
      continue;
    }
    out = line + "\n|";
    for (size_t i = 0; i < row.size(); ++i) out += " --- |";
  }
  return out;
}

std::string HtmlTable(const RegionResult& region) {
  std::string out = "<table>";
  for (const auto& row : RowsOf(region)) {
    out += "\n<tr>";
    for (const CellResult* cell : row) {
      out += "<td";
      if (cell->row_span > 1) out += " rowspan=\"" + std::to_string(cell->row_span) + "\"";
      if (cell->column_span > 1) out += " colspan=\"" + std::to_string(cell->column_span) + "\"";
      out += ">" + EscapeHtml(ShortenRuns(ToValidUtf8(CellText(region, *cell)))) + "</td>";
    }
    out += "</tr>";
  }
  return out + "\n</table>";
}

}  // namespace

std::string MarkdownTable(const RegionResult& region) {
  const auto& cells = region.table->cells;
  const bool simple = std::all_of(cells.begin(), cells.end(), [](const CellResult& cell) {
    return cell.row_span == 1 && cell.column_span == 1;
  });
  const auto all =
      static_cast<size_t>(region.table->rows) * static_cast<size_t>(region.table->columns);
  return simple && cells.size() == all ? PipeTable(region) : HtmlTable(region);
}

}  // namespace platen
