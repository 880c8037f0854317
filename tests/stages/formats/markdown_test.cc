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

std::string Markdown(std::vector<RegionResult> regions, const RenderOptions& options = {}) {
  PageResult page;
  page.page = 1;
  page.regions = std::move(regions);
  const auto writer = MakeDocumentWriter("md", options);
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

TEST(Markdown, AMarkOfOneSignIsABulletAndALabelStays) {
  EXPECT_EQ(Markdown({Region(RegionKind::kListItem, {"\xE2\x80\x93 one"}),
                      Region(RegionKind::kListItem, {"b) two"}),
                      Region(RegionKind::kListItem, {"[x] three"})}),
            "- one\n- b) two\n- \\[x] three\n\n");
}

TEST(Markdown, CheckBoxesAreTasks) {
  EXPECT_EQ(Markdown({Region(RegionKind::kListItem, {"\u2610 one"}),
                      Region(RegionKind::kListItem, {"\u2612 two"})}),
            "- [ ] one\n- [x] two\n\n");
}

// Markdown would number the items 3, 4, 5.
TEST(Markdown, NumbersThatDoNotFollowOneAnotherAreNoList) {
  EXPECT_EQ(
      Markdown({Region(RegionKind::kListItem, {"3. a"}), Region(RegionKind::kListItem, {"4. b"}),
                Region(RegionKind::kListItem, {"7. c"}), Region(RegionKind::kListItem, {"8) d"})}),
      "3. a\n4. b\n\n7\\. c\n\n8) d\n\n");
}

std::vector<RegionResult> Book() {
  return {Region(RegionKind::kHeader, {"The book"}), Region(RegionKind::kText, {"a"}),
          Region(RegionKind::kFootnote, {"1 note"}), Region(RegionKind::kFooter, {"foot"}),
          Region(RegionKind::kPageNumber, {"7"})};
}

TEST(Markdown, RunningHeadsAndPageNumbersAreLeftOut) {
  EXPECT_EQ(Markdown(Book()), "a\n\n1 note\n\n");
}

TEST(Markdown, WhatIsToStayStays) {
  RenderOptions options;
  options.keep_footnotes = false;
  EXPECT_EQ(Markdown(Book(), options), "a\n\n");
  options.keep_headers = true;
  EXPECT_EQ(Markdown(Book(), options), "The book\n\na\n\n");
  options = {};
  options.keep_footers = options.keep_page_numbers = true;
  EXPECT_EQ(Markdown(Book(), options), "a\n\n1 note\n\nfoot\n\n7\n\n");
}

RegionResult Whole(RegionKind kind, TextSyntax syntax, const std::string& text) {
  RegionResult region;
  region.kind = kind;
  region.syntax = syntax;
  region.text = text;
  return region;
}

TEST(Markdown, AFormulaIsABlockWithItsNumber) {
  EXPECT_EQ(
      Markdown({Whole(RegionKind::kFormula, TextSyntax::kLatex, "$$a\n\n= b$$"),
                Region(RegionKind::kFormulaNumber, {"(3a)"}), Region(RegionKind::kText, {"so"})}),
      "$$\na\n= b \\tag{3a}\n$$\n\nso\n\n");
  EXPECT_EQ(Markdown({Whole(RegionKind::kFormula, TextSyntax::kLatex, "\\[ a \\tag{1} \\]"),
                      Region(RegionKind::kFormulaNumber, {"(3)"})}),
            "$$\na \\tag{1}\n$$\n\n");
  EXPECT_EQ(Markdown({Whole(RegionKind::kFormula, TextSyntax::kLatex, "a"),
                      Region(RegionKind::kFormulaNumber, {"}$"})}),
            "$$\na\n$$\n\n")
      << "a number that would break the formula is left to the other outputs";
  EXPECT_EQ(Markdown({Region(RegionKind::kFormula, {"E = m c"}),
                      Region(RegionKind::kFormulaNumber, {"(4)"})}),
            "E = m c  (4)\n\n")
      << "read as text it is text";
}

TEST(Markdown, MarkupThatIsNotBalancedStandsInAFence) {
  EXPECT_EQ(Markdown({Whole(RegionKind::kFormula, TextSyntax::kLatex, "\\frac{a}{b")}),
            "```latex\n\\frac{a}{b\n```\n\n");
  EXPECT_EQ(Markdown({Whole(RegionKind::kTable, TextSyntax::kHtml, "<table><tr><td>a")}),
            "```html\n<table><tr><td>a\n```\n\n");
}

TEST(Markdown, TheHtmlOfATableHasNoEmptyLines) {
  EXPECT_EQ(Markdown({Whole(RegionKind::kTable, TextSyntax::kHtml,
                            "<table>\n\n<tr><td>a</td></tr>\n \n</table>")}),
            "<table>\n<tr><td>a</td></tr>\n</table>\n\n");
}

TEST(Markdown, WhatAModelWroteHasOneKindOfBulletAndShortLeaders) {
  EXPECT_EQ(Markdown({Whole(RegionKind::kText, TextSyntax::kPlain,
                            "\xC2\xB7 one\n\xE2\x80\xA2 two ....... 7")}),
            "- one\n- two ... 7\n\n");
  EXPECT_EQ(Markdown({Region(RegionKind::kText,
                             {"Contents ........ 12, ____ \xC2\xB7\xC2\xB7\xC2\xB7\xC2\xB7"})}),
            "Contents ... 12, \\_\\_\\_ \xC2\xB7\xC2\xB7\xC2\xB7\n\n");
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

TEST(Markdown, AWordThatTwoTextsShareJoinsThem) {
  EXPECT_EQ(
      Markdown({Region(RegionKind::kText, {"the com-"}), Region(RegionKind::kText, {"mittee *"}),
                Region(RegionKind::kText, {"A well-"}), Region(RegionKind::kText, {"known -"}),
                Region(RegionKind::kText, {"end-"}), Region(RegionKind::kCaption, {"of it"}),
                Region(RegionKind::kText, {"The"})}),
      "the committee *\n\nA well-known -\n\nend-\n\nof it\n\nThe\n\n");
}

TEST(Markdown, ASentenceThatTwoTextsShareJoinsThem) {
  const std::string line = "The committee expects the terms of";
  const auto joined = [](const std::string& above, const std::string& below) {
    return Markdown({Region(RegionKind::kText, {above}), Region(RegionKind::kText, {below})}) ==
           above + " " + below + "\n\n";
  };
  EXPECT_TRUE(joined(line, "delivery"));
  EXPECT_TRUE(joined(line + ",", "and"));
  EXPECT_FALSE(joined(line + ".", "delivery"));
  EXPECT_FALSE(joined(line + ":", "delivery"));
  EXPECT_FALSE(joined(line, "Delivery"));
  EXPECT_FALSE(joined("and", "delivery")) << "a line of a title page";
}

TEST(Markdown, APictureIsShownWhereItStands) {
  RegionResult figure = Whole(RegionKind::kFigure, TextSyntax::kPlain, "");
  EXPECT_EQ(Markdown({figure}), "");
  figure.image = "../images/a%20b.tif/p1-1.png";
  EXPECT_EQ(Markdown({figure, Region(RegionKind::kCaption, {"Fig. 1"})}),
            "![](../images/a%20b.tif/p1-1.png)\n\nFig. 1\n\n");
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
