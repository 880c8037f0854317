#include "stages/formats/markdown_escape.h"

#include <algorithm>
#include <cctype>

namespace platen {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t'; }
bool IsPunctuation(char c) { return std::ispunct(static_cast<unsigned char>(c)) != 0; }
bool IsAlphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

char At(std::string_view text, size_t i) { return i < text.size() ? text[i] : ' '; }
char Before(std::string_view text, size_t i) { return i > 0 ? text[i - 1] : ' '; }

size_t RunLength(std::string_view line, size_t at) {
  size_t end = at;
  while (end < line.size() && line[end] == line[at]) ++end;
  return end - at;
}

// Only this character and spaces, at least `least` of it: rules, underlines of headings.
bool IsRuleOf(std::string_view line, size_t least) {
  size_t count = 0;
  for (const char c : line) {
    if (c == line[0]) {
      ++count;
    } else if (!IsSpace(c)) {
      return false;
    }
  }
  return count >= least;
}

// The line that parts the head of a table from its rows.
bool IsDelimiterRow(std::string_view line) {
  return line.find('-') != kNone && line.find_first_not_of("-:| \t") == kNone;
}

// "[label]: ", "[^1]: ", which Markdown takes out of the text, and the box of a task, "[ ]".
bool BeginsDefinition(std::string_view line) {
  const size_t end = line.find(']');
  if (end == kNone) return true;  // the next line may end it
  return line.find("]:") != kNone ||
         (end == 2 && (line[1] == ' ' || line[1] == 'x' || line[1] == 'X'));
}

bool BeginsBlock(std::string_view line) {
  switch (line[0]) {
    case '#': {
      const size_t run = RunLength(line, 0);
      return run <= 6 && IsSpace(At(line, run));
    }
    case '>':
    case '|':
      return true;
    case '+':
    case '*':
      return IsSpace(At(line, 1));
    case '-':
      return IsSpace(At(line, 1)) || IsRuleOf(line, 1) || IsDelimiterRow(line);
    case '=':
      return IsRuleOf(line, 1);
    case '_':
      return IsRuleOf(line, 3);
    case '~':
      return RunLength(line, 0) >= 3;
    case ':':
      return IsDelimiterRow(line);
    case '[':
      return BeginsDefinition(line);
    default:
      return false;
  }
}

// Where a backslash must stand so that the line begins no list, heading, quote, rule, table, code
// or definition; kNone: nowhere.
size_t BlockMarker(std::string_view line) {
  if (line.empty()) return kNone;
  if (BeginsBlock(line)) return 0;
  size_t digits = 0;
  while (digits < line.size() && IsDigit(line[digits])) ++digits;
  const bool closed = At(line, digits) == '.' || At(line, digits) == ')';
  const bool number = digits > 0 && digits <= 9 && closed && IsSpace(At(line, digits + 1));
  return number ? digits : kNone;
}

// Start of an entity such as "&amp;" or "&#65;".
bool StartsEntity(std::string_view line, size_t at) {
  size_t i = at + 1;
  if (At(line, i) == '#') ++i;
  const size_t name = i;
  while (i < line.size() && IsAlphanumeric(line[i])) ++i;
  return i > name && At(line, i) == ';';
}

// Whether a letter or figure stands there, as far as it is known for certain: of Latin, Greek and
// Cyrillic the first byte says so.
bool IsWordAt(std::string_view text, size_t i) {
  if (i >= text.size()) return false;
  const auto lead = static_cast<unsigned char>(text[i]);
  if (lead < 0x80) return IsAlphanumeric(text[i]);
  return (lead >= 0xC3 && lead <= 0xC9) || (lead >= 0xCE && lead <= 0xD4);
}

bool IsWordBefore(std::string_view text, size_t i) {
  if (i == 0) return false;
  size_t begin = i - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return IsWordAt(text, begin);
}

// A dollar sign that a formula of GitHub's Markdown may begin with, and one later to end it.
bool StartsFormula(std::string_view text, size_t i) {
  if (IsSpace(At(text, i + 1))) return false;
  for (size_t end = text.find('$', i + 1); end != kNone; end = text.find('$', end + 1)) {
    if (!IsSpace(text[end - 1]) && !IsDigit(At(text, end + 1))) return true;
  }
  return false;
}

// Whether the character at `i` is markup within a line.
bool IsMarkup(std::string_view text, size_t i) {
  const char before = Before(text, i), after = At(text, i + 1);
  const bool alone = IsSpace(before) && IsSpace(after);
  switch (text[i]) {
    case '\\':
      return IsPunctuation(after);
    case '`':
      return true;
    case '*':
    case '~':
      return !alone;
    case '_':
      return !alone && !(IsWordBefore(text, i) && IsWordAt(text, i + 1));
    case ']':
      return after == '(';
    case '<':
      return IsAlphanumeric(after) || after == '/' || after == '!' || after == '?';
    case '&':
      return StartsEntity(text, i);
    case '$':
      return StartsFormula(text, i);
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

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string EscapeMarkdownLine(std::string_view line) {
  const std::string_view text = Trimmed(line);
  return Escape(text, BlockMarker(text));
}

std::string EscapeMarkdownHeading(std::string_view text) {
  text = Trimmed(text);
  // Number signs at the end close a heading.
  size_t marker = text.size();
  while (marker > 0 && text[marker - 1] == '#') --marker;
  const bool closes = marker < text.size() && IsSpace(Before(text, marker));
  return Escape(text, closes ? marker : kNone);
}

std::string EscapeMarkdownCell(std::string_view text) {
  std::string out;
  for (const char c : Escape(Trimmed(text), kNone)) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string ShortenRuns(std::string_view text) {
  constexpr size_t kLongest = 3;
  std::string out;
  size_t run = 0;  // of the sign that `out` ends with
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const std::string_view sign = rest.substr(0, rest.starts_with("\xC2\xB7") ? 2 : 1);
    const bool of_a_run = sign == "." || sign == "_" || sign.size() == 2;
    run = of_a_run && out.ends_with(sign) ? run + 1 : 1;
    if (!of_a_run || run <= kLongest) out += sign;
    i += sign.size();
  }
  return out;
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
