#include "stages/formats/markdown_writer.h"

#include <algorithm>
#include <cctype>

#include "model/support/utf8.h"

namespace platen {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Where a backslash must stand so that the line does not begin a list, heading, quote, rule or code
// fence; npos if none is needed.
size_t BlockMarker(std::string_view line) {
  size_t i = 0;
  while (i < line.size() && line[i] == ' ') ++i;
  if (i == line.size()) return std::string_view::npos;
  if (std::string_view("#>+-=~|").find(line[i]) != std::string_view::npos) return i;
  size_t digits = i;
  while (digits < line.size() && IsDigit(line[digits])) ++digits;
  if (digits > i && digits < line.size() && (line[digits] == '.' || line[digits] == ')')) {
    return digits;
  }
  return std::string_view::npos;
}

// Start of an entity such as "&amp;" or "&#65;".
bool StartsEntity(std::string_view line, size_t at) {
  size_t i = at + 1;
  if (i < line.size() && line[i] == '#') ++i;
  const size_t name = i;
  while (i < line.size() && std::isalnum(static_cast<unsigned char>(line[i]))) ++i;
  return i > name && i < line.size() && line[i] == ';';
}

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

std::string EscapeLines(const std::string& text) {
  std::string out;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    out += EscapeMarkdownLine(std::string_view(text).substr(start, end - start));
    if (end == text.size()) break;
    out += '\n';
    start = end + 1;
  }
  return out;
}

}  // namespace

std::string EscapeMarkdownLine(std::string_view line) {
  const size_t marker = BlockMarker(line);
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool inline_markup = std::string_view("\\`*_[]<").find(c) != std::string_view::npos;
    if (i == marker || inline_markup || (c == '&' && StartsEntity(line, i))) out += '\\';
    out += c;
  }
  return out;
}

std::string MarkdownWriter::Begin(const DocumentInfo&) { return ""; }

std::string MarkdownWriter::Page(const PageResult& page) {
  std::string out =
      "<!-- page " + std::to_string(page.page) + CommentText(RemarkOn(page)) + " -->\n\n";
  for (const RegionResult& region : page.regions) {
    if (region.text.empty()) continue;
    const std::string text = ToValidUtf8(region.text);
    out += region.lines.empty() ? text : EscapeLines(text);
    out += "\n\n";
  }
  return out;
}

std::string MarkdownWriter::End() { return ""; }

}  // namespace platen
