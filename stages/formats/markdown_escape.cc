#include "stages/formats/markdown_escape.h"

#include <cctype>

namespace platen {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetterOrDigit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}
bool IsSpace(char c) { return c == ' ' || c == '\t'; }
bool IsPunctuation(char c) { return std::ispunct(static_cast<unsigned char>(c)) != 0; }

char At(std::string_view text, size_t i) { return i < text.size() ? text[i] : ' '; }

size_t RunLength(std::string_view line, size_t at) {
  size_t end = at;
  while (end < line.size() && line[end] == line[at]) ++end;
  return end - at;
}

// Only these characters and spaces, at least `least` of them: rules, underlines of headings.
bool IsRuleOf(std::string_view line, size_t at, size_t least) {
  size_t count = 0;
  for (size_t i = at; i < line.size(); ++i) {
    if (line[i] == line[at]) {
      ++count;
    } else if (!IsSpace(line[i])) {
      return false;
    }
  }
  return count >= least;
}

bool BeginsBlock(std::string_view line, size_t i) {
  switch (line[i]) {
    case '#': {
      const size_t run = RunLength(line, i);
      return run <= 6 && IsSpace(At(line, i + run));
    }
    case '>':
      return true;
    case '+':
      return IsSpace(At(line, i + 1));
    case '-':
      return IsSpace(At(line, i + 1)) || IsRuleOf(line, i, 1);
    case '=':
      return IsRuleOf(line, i, 1);
    case '~':
      return RunLength(line, i) >= 3;
    case '|':
      return true;
    case ':':
      return line.find('|') != std::string_view::npos || line.find('-') == i + 1;
    default:
      return false;
  }
}

// Where a backslash must stand so that the line begins no list, heading, quote, rule or code; npos:
// nowhere.
size_t BlockMarker(std::string_view line) {
  size_t i = 0;
  while (i < line.size() && IsSpace(line[i])) ++i;
  if (i == line.size()) return std::string_view::npos;
  if (BeginsBlock(line, i)) return i;
  size_t digits = i;
  while (digits < line.size() && IsDigit(line[digits])) ++digits;
  const bool number = digits > i && digits - i <= 9;
  if (number && (At(line, digits) == '.' || At(line, digits) == ')') &&
      IsSpace(At(line, digits + 1))) {
    return digits;
  }
  return std::string_view::npos;
}

// Start of an entity such as "&amp;" or "&#65;".
bool StartsEntity(std::string_view line, size_t at) {
  size_t i = at + 1;
  if (At(line, i) == '#') ++i;
  const size_t name = i;
  while (i < line.size() && std::isalnum(static_cast<unsigned char>(line[i])) != 0) ++i;
  return i > name && At(line, i) == ';';
}

// Whether the character at `i` is markup within a line.
bool IsMarkup(std::string_view text, size_t i) {
  const char before = i > 0 ? text[i - 1] : ' ', after = At(text, i + 1);
  switch (text[i]) {
    case '\\':
      return IsPunctuation(after) || i + 1 == text.size();
    case '`':
      return true;
    case '*':
      return !IsSpace(before) || !IsSpace(after);
    case '_':
      return (!IsSpace(before) || !IsSpace(after)) &&
             !(IsLetterOrDigit(before) && IsLetterOrDigit(after));
    case '~':
      return before == '~' || after == '~';
    case '[':
      return text.find(']', i) != std::string_view::npos;
    case '<':
      return IsLetterOrDigit(after) || after == '/' || after == '!' || after == '?';
    case '&':
      return StartsEntity(text, i);
    default:
      return false;
  }
}

std::string Escape(std::string_view text, size_t marker) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == marker || IsMarkup(text, i)) out += '\\';
    out += text[i];
  }
  return out;
}

}  // namespace

std::string EscapeMarkdownLine(std::string_view line) { return Escape(line, BlockMarker(line)); }

std::string EscapeMarkdownSpan(std::string_view text) {
  return Escape(text, std::string_view::npos);
}

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace platen
