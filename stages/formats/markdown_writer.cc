#include "stages/formats/markdown_writer.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "model/support/utf8.h"
#include "stages/formats/markdown_escape.h"
#include "stages/formats/reflow.h"
#include "stages/formats/table_text.h"

namespace platen {
namespace {

// ": reason", such that it cannot end the comment it stands in.
std::string CommentText(const std::string& reason) {
  if (reason.empty()) return "";
  std::string text = ": " + ToValidUtf8(reason);
  for (char& c : text) {
    if (c == '>' || c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

// Why the page is empty, or what speaks against its text.
std::string RemarkOn(const PageResult& page) {
  if (!page.error.empty()) return page.error;
  std::string remark;
  for (const Doubt& doubt : page.doubts) {
    remark += (remark.empty() ? "doubtful: " : "; ") + doubt.text;
  }
  return remark;
}

std::string Escaped(const std::string& line) { return EscapeMarkdownLine(ToValidUtf8(line)); }

std::string OnOneLine(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : " ") + line;
  return text;
}

// A paragraph; lines that were ended on purpose end here too.
std::string Paragraph(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : "  \n") + Escaped(line);
  return out;
}

std::string Heading(const char* marks, const std::vector<std::string>& lines) {
  return marks + EscapeMarkdownSpan(ToValidUtf8(OnOneLine(lines)));
}

// Bytes of the bullet, dash or number an item begins with, and the space after it; 0: none.
size_t MarkLength(const std::string& text, bool& number) {
  number = false;
  size_t end = 0;
  for (const char* bullet :
       {"\xE2\x80\xA2", "\xC2\xB7", "\xE2\x80\x93", "\xE2\x80\x94", "-", "*", "o"}) {
    const std::string mark = std::string(bullet) + " ";
    if (text.starts_with(mark)) return mark.size();
  }
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
  number = end > 0 && end <= 9 && end + 1 < text.size() && (text[end] == '.' || text[end] == ')') &&
           text[end + 1] == ' ';
  return number ? end + 2 : 0;
}

std::string ListItem(const std::vector<std::string>& lines) {
  const std::string text = OnOneLine(lines);
  bool number = false;
  const size_t mark = MarkLength(text, number);
  return (number ? text.substr(0, mark) : "- ") + Escaped(text.substr(mark));
}

std::string CodeBlock(const RegionResult& region) {
  std::string fence = "```";
  while (region.text.find(fence) != std::string::npos) fence += '`';
  return fence + "\n" + ToValidUtf8(region.text) + "\n" + fence;
}

// Rows of a form: its labels and values, a line each.
std::string Rows(const RegionResult& region) {
  std::string out;
  for (const auto& row : RowsOf(region)) {
    std::string line;
    for (const CellResult* cell : row) {
      const std::string text = CellText(region, *cell);
      if (!text.empty()) line += (line.empty() ? "" : "  ") + text;
    }
    if (!line.empty()) out += (out.empty() ? "" : "  \n") + Escaped(line);
  }
  return out;
}

// What ends a cell or parts it from the next is no longer that.
std::string PipeCell(const std::string& text) {
  std::string out;
  for (const char c : EscapeMarkdownSpan(ToValidUtf8(text))) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string PipeTable(const RegionResult& region) {
  std::string out;
  for (const auto& row : RowsOf(region)) {
    std::string line = "|";
    for (const CellResult* cell : row) line += " " + PipeCell(CellText(region, *cell)) + " |";
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
      out += ">" + EscapeHtml(ToValidUtf8(CellText(region, *cell))) + "</td>";
    }
    out += "</tr>";
  }
  return out + "\n</table>";
}

// Tables without spans as Markdown, others as HTML, which Markdown allows.
std::string Table(const RegionResult& region) {
  const auto& cells = region.table->cells;
  const bool simple = std::all_of(cells.begin(), cells.end(), [](const CellResult& cell) {
    return cell.row_span == 1 && cell.column_span == 1;
  });
  const auto all =
      static_cast<size_t>(region.table->rows) * static_cast<size_t>(region.table->columns);
  return simple && cells.size() == all ? PipeTable(region) : HtmlTable(region);
}

bool IsLeftOut(RegionKind kind) {
  return kind == RegionKind::kHeader || kind == RegionKind::kFooter ||
         kind == RegionKind::kPageNumber;
}

std::string OfLines(const PageResult& page, const RegionResult& region, const PageWords& words) {
  if (region.table) return region.kind == RegionKind::kTable ? Table(region) : Rows(region);
  if (region.kind == RegionKind::kCode) return CodeBlock(region);
  const std::vector<std::string> lines = Reflow(region, RightEdge(page, region), words);
  switch (region.kind) {
    case RegionKind::kTitle:
      return Heading("# ", lines);
    case RegionKind::kHeading:
      return Heading("## ", lines);
    case RegionKind::kListItem:
      return ListItem(lines);
    default:
      return Paragraph(lines);
  }
}

std::string OfWhole(const RegionResult& region) {
  const std::string text = ToValidUtf8(region.text);
  if (region.kind == RegionKind::kTitle && !text.starts_with('#')) return "# " + text;
  if (region.kind == RegionKind::kHeading && !text.starts_with('#')) return "## " + text;
  return text;
}

}  // namespace

std::string MarkdownWriter::Begin(const DocumentInfo&) { return ""; }

std::string MarkdownWriter::Page(const PageResult& page) {
  std::string out =
      "<!-- page " + std::to_string(page.page) + CommentText(RemarkOn(page)) + " -->\n\n";
  const PageWords words(page);
  for (size_t i = 0; i < page.regions.size(); ++i) {
    const RegionResult& region = page.regions[i];
    if (region.text.empty() || IsLeftOut(region.kind)) continue;
    out += region.lines.empty() ? OfWhole(region) : OfLines(page, region, words);
    const bool list = region.kind == RegionKind::kListItem && i + 1 < page.regions.size() &&
                      page.regions[i + 1].kind == RegionKind::kListItem;
    out += list ? "\n" : "\n\n";
  }
  return out;
}

std::string MarkdownWriter::End() { return ""; }

}  // namespace platen
