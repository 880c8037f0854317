// Plain text that was escaped comes back unchanged from a Markdown parser that is not ours:
// cmark-gfm, the reference parser of GitHub's Markdown (Debian package cmark-gfm; skipped where it
// is not installed).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "stages/formats/document_writer.h"
#include "stages/formats/markdown_escape.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::TempFolder;

bool HasParser() { return std::system("command -v cmark-gfm >/dev/null 2>&1") == 0; }

std::string ToHtml(const std::string& markdown) {
  const TempFolder folder;
  folder.Write("in.md", markdown);
  const std::string command =
      "cmark-gfm -e table -e strikethrough -e tasklist '" + (folder / "in.md") + "'";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string html;
  for (int c; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) html += static_cast<char>(c);
  EXPECT_EQ(pipe == nullptr ? -1 : ::pclose(pipe), 0);
  return html;
}

// What Markdown may make of a character somewhere, beside letters that it may stand at.
const std::vector<std::string>& Pieces() {
  static const auto& pieces = *new std::vector<std::string>{
      "A",     "Word",  "12",    "7.",     "3)",     "\u00c9",  "\u201c",  "\u201d", "\u4e2d",
      "\\",    "`",     "``",    "*",      "**",     "_",       "__",      "~",      "~~",
      "#",     "###",   "+",     "-",      "--",     "---",     "=",       "===",    ">",
      "<",     "<b>",   "</p>",  "<!--",   "<a:b>",  "[",       "]",       "[x]",    "[ ]",
      "[^1]",  "](",    "]:",    "[x](y)", "![",     "(",       ")",       "|",      "| - |",
      ":-:",   "-|-",   "&amp;", "&#65;",  "&",      "&copy;",  ";",       ":",      "!",
      "\"",    "'",     "$",     "$$",     "%",      "^",       "{",       "}",      ",",
      ".",     "?",     "/",     "@",      "\u00b7", "\u2014",  "~~~",     "```",    "    ",
      "_ _ _", "* * *", "A|B",   "--|--",  ":-|:-",  "\u201c_", "_\u201d", "---:"};
  return pieces;
}

class RandomText {
 public:
  explicit RandomText(unsigned seed) : random_(seed) {}

  unsigned Below(unsigned count) { return static_cast<unsigned>(random_() % count); }

  // Something that is not empty and has no space at its ends.
  std::string Text() {
    std::string text;
    for (unsigned i = 0, count = Below(3) == 0 ? 1 : 1 + Below(10); i < count; ++i) {
      text += Pieces()[Below(static_cast<unsigned>(Pieces().size()))];
      if (Below(3) == 0) text += ' ';
    }
    const size_t first = text.find_first_not_of(' ');
    if (first == std::string::npos) return "b";
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
  }

 private:
  std::mt19937 random_;
};

RegionResult Region(RegionKind kind, const std::string& text) {
  RegionResult region;
  region.kind = kind;
  region.text = text;
  region.lines.resize(1);
  region.lines[0].text = text;
  return region;
}

RegionResult Cells(RegionKind kind, int columns, const std::vector<std::string>& texts) {
  RegionResult region = Region(kind, "cells");
  region.lines.clear();
  region.table = TableResult{static_cast<int>(texts.size()) / columns, columns, {}};
  for (int i = 0; i < static_cast<int>(texts.size()); ++i) {
    region.lines.push_back(Region(kind, texts[static_cast<size_t>(i)]).lines[0]);
    CellResult cell;
    cell.row = i / columns;
    cell.column = i % columns;
    cell.lines = {i};
    region.table->cells.push_back(cell);
  }
  return region;
}

// The text as the parser writes it in HTML.
std::string Shown(const std::string& text) {
  std::string html;
  for (const char c : EscapeHtml(ShortenRuns(text))) {
    html += c == '"' ? "&quot;" : std::string(1, c);
  }
  return html;
}

// A block of each kind, with the HTML it must become.
struct Block {
  RegionResult region;
  std::string html;
  bool item = false;
};

Block RandomBlock(RandomText& random) {
  const std::string text = random.Text(), more = random.Text();
  switch (random.Below(5)) {
    case 0:
      return {Region(RegionKind::kHeading, text), "<h2>" + Shown(text) + "</h2>\n"};
    case 1:
      return {Region(RegionKind::kListItem, "- " + text), "<li>" + Shown(text) + "</li>\n", true};
    case 2:  // lines that stay apart
      return {Cells(RegionKind::kText, 1, {text, more}),
              "<p>" + Shown(text) + "<br />\n" + Shown(more) + "</p>\n"};
    case 3:
      return {Cells(RegionKind::kTable, 2, {text, "b", more, "d"}),
              "<table>\n<thead>\n<tr>\n<th>" + Shown(text) +
                  "</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>" + Shown(more) +
                  "</td>\n<td>d</td>\n</tr>\n</tbody>\n</table>\n"};
    default:
      return {Region(RegionKind::kText, text), "<p>" + Shown(text) + "</p>\n"};
  }
}

// A page of blocks, with the HTML it must become added to `html`.
PageResult RandomPage(RandomText& random, std::string& html) {
  PageResult page;
  page.page = 1;
  html += "<!-- raw HTML omitted -->\n";
  bool in_list = false;
  for (unsigned i = 0; i < 6; ++i) {
    Block block = RandomBlock(random);
    if (block.item && !in_list) html += "<ul>\n";
    if (!block.item && in_list) html += "</ul>\n";
    in_list = block.item;
    html += block.html;
    page.regions.push_back(std::move(block.region));
  }
  if (in_list) html += "</ul>\n";
  return page;
}

TEST(CommonMark, EscapedTextComesBackUnchanged) {
  if (!HasParser()) GTEST_SKIP() << "cmark-gfm is not installed";
  RandomText random(20261124);
  for (int round = 0; round < 60; ++round) {
    const auto writer = MakeDocumentWriter("md");
    std::string markdown, expected;
    for (int page = 0; page < 25; ++page) markdown += writer->Page(RandomPage(random, expected));
    ASSERT_EQ(ToHtml(markdown), expected) << "round " << round << "\n" << markdown;
  }
}

}  // namespace
}  // namespace platen
