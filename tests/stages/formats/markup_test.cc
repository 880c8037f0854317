// The HTML of tables and the LaTeX of formulas: what is balanced and what is not.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "stages/formats/latex.h"
#include "stages/formats/table_html.h"

namespace platen {
namespace {

TEST(TableHtml, WhatModelsWriteIsInOrder) {
  for (const char* html :
       {"<table><tr><td>a</td><td>b</td></tr></table>",
        "<table border=\"1\" style='width: 3em'>\n<thead><tr><th>a</th></tr></thead>\n<tbody>"
        "<tr><td>1 < 2 & 3<br/>x<sup>2</sup></td></tr></tbody></table>",
        "<TABLE><TR><TD>a</TD></TR></TABLE>",
        "<table><tr><td rowspan=\"2\">a</td><td colspan=2>b</td></tr><tr><td>c</td><td>d</td>"
        "</tr></table>",
        "<!-- a table -->before<table><tr><td></td></tr></table>after"}) {
    EXPECT_EQ(FaultOfTableHtml(html), "") << html;
  }
}

TEST(TableHtml, FaultsAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"<table><tr><td>a</td></tr>", "<table> is not closed"},
      {"<table><tr><td>a</tr></table>", "<td> is not closed"},
      {"<table><tr><td>a</td></tr></table></td>", "</td> closes nothing"},
      {"<table><tr><td>a</td></tr></tab", "ends within a tag"},
      {"<table><tr><td><!-- x</td></tr></table>", "ends within a tag"},
      {"<table><td>a</td></table>", "<td> stands in <table>"},
      {"<td>a</td>", "<td> stands alone"},
      {"<table>words <b>x</b></table>", "<b> stands in <table>"},
      {"<table></table>", "has no row"},
      {"plain", "has no <table>"},
      {"<table><tr><td><script>x</script></td></tr></table>", "<script> is no part of a table"},
      {"<table><tr><td><table></table></td></tr></table>", "has a table within a table"},
      {"<table><tr><td rowspan=\"2\">a</td></tr></table>", "has a rowspan beyond its last row"},
      {"<table><tr><td colspan=\"0\">a</td></tr></table>",
       "has a span that is no number from 1 to 1000"},
      {"<table><tr><td colspan=\"1001\">a</td></tr></table>",
       "has a span that is no number from 1 to 1000"},
      {"<table><tr><td colspan=\"-1\">a</td></tr></table>",
       "has a span that is no number from 1 to 1000"},
      {"<table><tr><td>a</td><td rowspan=2>b</td></tr><tr><td colspan=2>c</td></tr></table>",
       "has cells that lie on one another"},
      {"<table><tr><td colspan=999></td><td colspan=2></td></tr></table>",
       "has more than 1000 columns"}};
  for (const auto& [html, fault] : cases) EXPECT_EQ(FaultOfTableHtml(html), fault) << html;
}

// Every text that ends early is told, whatever is cut off.
TEST(TableHtml, NoBeginningOfATableIsWhole) {
  const std::string html =
      "<table border=\"1\"><tr><td rowspan=\"2\">a<br></td><td>b</td></tr>"
      "<tr><td>c <i>d</i></td></tr></table>";
  ASSERT_EQ(FaultOfTableHtml(html), "");
  for (size_t length = 0; length < html.size(); ++length) {
    EXPECT_NE(FaultOfTableHtml(html.substr(0, length)), "") << length;
  }
}

TEST(Latex, DelimitersOfDocumentsAreTakenOff) {
  for (const char* text : {"x^2", " $$ x^2 $$\n", "\\[x^2\\]", "\\( x^2 \\)", "$x^2$"}) {
    EXPECT_EQ(BareFormula(text), "x^2") << text;
  }
  EXPECT_EQ(BareFormula("$"), "$");
  EXPECT_EQ(BareFormula("$$$"), "$");
  EXPECT_EQ(BareFormula(""), "");
}

TEST(Latex, WhatIsBalancedHasNoFault) {
  for (const char* latex :
       {"\\frac{a}{b}", "\\left\\{ x \\right.", "\\left( \\left[ x \\right] \\right)",
        "\\begin{array}{cc} a & b \\\\ c & d \\end{array}", "\\{ x \\}", "50\\%", "\\$5", "",
        "\\begin{align*} x \\end{align*}", "\\left\\langle x \\right \\rangle", "\\leftarrow"}) {
    EXPECT_EQ(FaultOfLatex(latex), "") << latex;
  }
}

TEST(Latex, FaultsAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\\frac{a}{b", "{ is not closed"},
      {"a}", "} closes nothing"},
      {"\\left( x", "\\left is not closed"},
      {"x \\right)", "\\right closes nothing"},
      {"{\\left( x} \\right)", "\\left is not closed"},
      {"\\left", "ends before a bracket"},
      {"\\left{x\\right}", "has no bracket after \\left or \\right"},
      {"\\begin{array} x", "\\begin{array} is not closed"},
      {"\\begin{array} x \\end{matrix}", "\\begin{array} is not closed"},
      {"\\end{array}", "\\end{array} closes nothing"},
      {"\\begin x", "has a \\begin without a name"},
      {"x\\", "ends with a backslash"},
      {"a $ b", "has a $ within"}};
  for (const auto& [latex, fault] : cases) EXPECT_EQ(FaultOfLatex(latex), fault) << latex;
}

// Whatever a model writes, there is an answer.
TEST(Markup, AnythingMayBeGiven) {
  const std::vector<std::string> pieces = {"<",
                                           ">",
                                           "/",
                                           "=",
                                           "\"",
                                           "'",
                                           "table",
                                           "tr",
                                           "td",
                                           " ",
                                           "rowspan=",
                                           "9999999999",
                                           "<!--",
                                           "-->",
                                           "<table>",
                                           "<tr>",
                                           "<td colspan=3>",
                                           "</td>",
                                           "</tr>",
                                           "</table>",
                                           "\\",
                                           "{",
                                           "}",
                                           "\\left",
                                           "\\right",
                                           "\\begin{a}",
                                           "\\end{a}",
                                           "$",
                                           std::string(1, '\0'),
                                           "\xFF"};
  std::mt19937 random(20261125);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (size_t i = 0, count = random() % 30; i < count; ++i) {
      text += pieces[random() % pieces.size()];
    }
    EXPECT_NO_THROW(FaultOfTableHtml(text)) << text;
    const std::string_view bare = BareFormula(text);
    EXPECT_NO_THROW(FaultOfLatex(bare)) << text;
    EXPECT_NE(text.find(bare), std::string::npos);
  }
}

// A formula that is put together from whole parts is balanced; with any one of its brackets left
// out it is not.
TEST(Latex, EveryBracketCounts) {
  std::mt19937 random(20261124);
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"{", "}"}, {"\\left(", "\\right)"}, {"\\begin{cases}", "\\end{cases}"}};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> parts = {"x", "\\alpha ", "\\}"};
    for (int i = 0; i < 6; ++i) {
      const auto& [open, close] = kinds[random() % kinds.size()];
      const size_t begin = random() % (parts.size() + 1);
      parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(begin), {open, close});
    }
    std::string whole;
    for (const std::string& part : parts) whole += part;
    ASSERT_EQ(FaultOfLatex(whole), "") << whole;
    const size_t out = random() % parts.size();
    std::string broken;
    for (size_t i = 0; i < parts.size(); ++i) broken += i == out ? "" : parts[i];
    const bool bracket = parts[out] != "x" && parts[out] != "\\alpha " && parts[out] != "\\}";
    EXPECT_EQ(!FaultOfLatex(broken).empty(), bracket) << broken;
  }
}

}  // namespace
}  // namespace platen
