// How the kinds of regions look in Markdown.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stages/formats/document_writer.h"
#include "stages/formats/page_result.h"
#include "stages/formats/table_text.h"

namespace platen {
namespace {

RegionResult Region(RegionKind kind, const std::vector<std::string>& lines) {
  RegionResult region;
  region.kind = kind;
  double y = 0;
  for (const std::string& text : lines) {
    LineResult line;
    line.text = text;
    line.box = {0, y, 600, y + 20};
    y += 30;
    region.lines.push_back(line);
    if (!region.text.empty()) region.text += '\n';
    region.text += text;
  }
  return region;
}

// Cells of one row after another, each one line.
RegionResult Table(int columns, const std::vector<std::string>& cells) {
  RegionResult region = Region(RegionKind::kTable, cells);
  region.table = TableResult{static_cast<int>(cells.size()) / columns, columns, {}};
  for (int i = 0; i < static_cast<int>(cells.size()); ++i) {
    CellResult cell;
    cell.row = i / columns;
    cell.column = i % columns;
    cell.lines = {i};
    region.table->cells.push_back(cell);
  }
  region.text = TableText(region);
  return region;
}

std::string Markdown(std::vector<RegionResult> regions) {
  PageResult page;
  page.page = 1;
  page.regions = std::move(regions);
  const auto writer = MakeDocumentWriter("md");
  const std::string text = writer->Page(page);
  const std::string head = "<!-- page 1 -->\n\n";
  EXPECT_EQ(text.substr(0, head.size()), head);
  return text.substr(head.size());
}

TEST(Markdown, TitlesAndHeadingsAreOneLine) {
  EXPECT_EQ(Markdown({Region(RegionKind::kTitle, {"On the terms", "of delivery"}),
                      Region(RegionKind::kHeading, {"1. Scope"})}),
            "# On the terms of delivery\n\n## 1. Scope\n\n");
}

TEST(Markdown, ListItemsFollowOneAnother) {
  EXPECT_EQ(
      Markdown({Region(RegionKind::kListItem, {"\xE2\x80\xA2 one", "and more"}),
                Region(RegionKind::kListItem, {"- two"}),
                Region(RegionKind::kListItem, {"3. three"}), Region(RegionKind::kText, {"end"})}),
      "- one and more\n- two\n3. three\n\nend\n\n");
}

TEST(Markdown, RunningHeadsAndPageNumbersAreLeftOut) {
  EXPECT_EQ(
      Markdown({Region(RegionKind::kHeader, {"The book"}), Region(RegionKind::kText, {"a"}),
                Region(RegionKind::kFooter, {"foot"}), Region(RegionKind::kPageNumber, {"7"})}),
      "a\n\n");
}

TEST(Markdown, ATableWithoutSpansIsAPipeTable) {
  EXPECT_EQ(Markdown({Table(2, {"Name", "Price", "a|b *c*", "3.90"})}),
            "| Name | Price |\n| --- | --- |\n| a\\|b \\*c\\* | 3.90 |\n\n");
}

TEST(Markdown, ATableWithSpansIsHtml) {
  RegionResult table = Table(2, {"Head", "", "a < b", "c"});
  table.table->cells[0].column_span = 2;
  table.table->cells.erase(table.table->cells.begin() + 1);
  EXPECT_EQ(Markdown({table}),
            "<table>\n<tr><td colspan=\"2\">Head</td></tr>\n"
            "<tr><td>a &lt; b</td><td>c</td></tr>\n</table>\n\n");
}

TEST(Markdown, AFormKeepsItsRows) {
  RegionResult form = Table(2, {"Name", "Baker", "Town", "Tours"});
  form.kind = RegionKind::kText;
  EXPECT_EQ(Markdown({form}), "Name  Baker  \nTown  Tours\n\n");
}

TEST(Markdown, CodeKeepsItsLines) {
  EXPECT_EQ(Markdown({Region(RegionKind::kCode, {"if (a < b)", "```"})}),
            "````\nif (a < b)\n```\n````\n\n");
}

TEST(TableText, HasARowOnEachLineAndTabsBetweenColumns) {
  RegionResult table = Table(3, {"a", "b", "c", "d", "", "f", "g", "", ""});
  EXPECT_EQ(TableText(table), "a\tb\tc\nd\t\tf\ng");
}

TEST(TableText, LinesOfACellAreJoined) {
  RegionResult table = Table(2, {"a", "b"});
  table.lines.push_back(table.lines[1]);
  table.table->cells[1].lines = {1, 2};
  EXPECT_EQ(TableText(table), "a\tb b");
}

}  // namespace
}  // namespace platen
