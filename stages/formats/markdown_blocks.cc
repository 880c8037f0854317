#include "stages/formats/markdown_blocks.h"

#include <algorithm>
#include <vector>

#include "model/support/utf8.h"
#include "stages/formats/latex.h"
#include "stages/formats/list_mark.h"
#include "stages/formats/markdown_escape.h"
#include "stages/formats/markdown_table.h"
#include "stages/formats/table_html.h"
#include "stages/formats/table_text.h"

namespace platen {
namespace {

std::string Escaped(const std::string& line) {
  return EscapeMarkdownLine(ShortenRuns(ToValidUtf8(line)));
}

// A paragraph; lines that were ended on purpose end here too.
std::string Paragraph(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : "  \n") + Escaped(line);
  return out;
}

std::string Heading(const char* marks, const std::string& text) {
  return marks + EscapeMarkdownHeading(ShortenRuns(ToValidUtf8(text)));
}

std::string ListItem(const std::string& text, bool number_is_text) {
  const ListMark mark = FindListMark(text);
  if (number_is_text) return Escaped(text);
  if (mark.kind == ListMark::Kind::kNumber)
    return text.substr(0, mark.bytes) + Escaped(text.substr(mark.bytes));
  if (mark.kind == ListMark::Kind::kLabel || !mark) return "- " + Escaped(text);
  const bool open = mark.kind == ListMark::Kind::kOpenTask;
  const bool done = mark.kind == ListMark::Kind::kDoneTask;
  return (open ? "- [ ] " : done ? "- [x] " : "- ") + Escaped(text.substr(mark.bytes));
}

// Text as it is, whatever is in it. `language` may be empty.
std::string Fenced(const std::string& text, const char* language) {
  size_t longest = 2, run = 0;  // of backticks
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fence + language + "\n" + text + "\n" + fence;
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

std::string OfLines(const PageResult& page, const RegionResult& region, const PageWords& words,
                    const BlockContext& context) {
  if (region.table) {
    return region.kind == RegionKind::kTable ? MarkdownTable(region) : Rows(region);
  }
  if (region.kind == RegionKind::kCode) return Fenced(ToValidUtf8(region.text), "");
  std::vector<std::string> lines = Reflow(region, RightEdge(page, region), words);
  if (!context.formula_number.empty() && !lines.empty()) {
    lines.back().append("  ").append(context.formula_number);
  }
  switch (region.kind) {
    case RegionKind::kTitle:
      return Heading("# ", OnOneLine(lines));
    case RegionKind::kHeading:
      return Heading("## ", OnOneLine(lines));
    case RegionKind::kListItem:
      return ListItem(OnOneLine(lines), context.number_is_text);
    default:
      return Paragraph(lines);
  }
}

// An empty line would end a block of HTML or a formula.
std::string WithoutEmptyLines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (!out.empty()) out += '\n';
    out += line;
  }
  return out;
}

// "(3)" -> " \tag{3}".
std::string Tag(std::string_view number) {
  if (number.starts_with('(') && number.ends_with(')') && number.size() > 2) {
    number = number.substr(1, number.size() - 2);
  }
  if (number.empty() || number.find_first_of("{}\\$%#&\n") != std::string_view::npos) return "";
  return " \\tag{" + std::string(number) + "}";
}

std::string Formula(const std::string& text, std::string_view number) {
  const std::string_view bare = BareFormula(text);
  if (!FaultOfLatex(bare).empty()) return Fenced(text, "latex");
  const bool tagged = bare.find("\\tag") != std::string_view::npos;
  return "$$\n" + WithoutEmptyLines(bare) + (tagged ? "" : Tag(number)) + "\n$$";
}

// What the model wrote, with one kind of bullet.
std::string OwnMarkdown(const std::string& text) {
  std::string out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const ListMark mark = FindListMark(line);
    // A dash may begin speech.
    const bool bullet = mark.kind == ListMark::Kind::kBullet && !line.starts_with("\xE2\x80\x93");
    if (begin > 0) out += '\n';
    out += bullet ? "- " + line.substr(mark.bytes) : line;
    begin = end + 1;
  }
  return ShortenRuns(out);
}

std::string OfWhole(const RegionResult& region, std::string_view number) {
  const std::string text = ToValidUtf8(region.text);
  if (region.syntax == TextSyntax::kHtml) {
    return FaultOfTableHtml(text).empty() ? WithoutEmptyLines(text) : Fenced(text, "html");
  }
  if (region.syntax == TextSyntax::kLatex) return Formula(text, number);
  if (region.kind == RegionKind::kCode) {
    return text.starts_with("```") ? text : Fenced(text, "");
  }
  const bool marked = text.starts_with('#');
  if (region.kind == RegionKind::kTitle && !marked) return "# " + OnOneLine({text});
  if (region.kind == RegionKind::kHeading && !marked) return "## " + OnOneLine({text});
  return OwnMarkdown(text);
}

}  // namespace

std::string MarkdownBlock(const PageResult& page, const RegionResult& region,
                          const PageWords& words, const BlockContext& context) {
  const std::string image = region.image.empty() ? "" : "![](" + region.image + ")";
  if (region.text.empty()) return image;
  return (image.empty() ? "" : image + "\n\n") + (region.lines.empty()
                                                      ? OfWhole(region, context.formula_number)
                                                      : OfLines(page, region, words, context));
}

}  // namespace platen
