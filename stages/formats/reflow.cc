#include "stages/formats/reflow.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "model/support/utf8.h"

namespace platen {
namespace {

// Parts of words that keep their hyphen.
constexpr std::array<std::string_view, 30> kKeepHyphen = {
    "all",    "anti",  "brother", "co",     "cross", "daughter", "eighty", "ex",
    "father", "fifty", "forty",   "half",   "high",  "low",      "mid",    "mother",
    "ninety", "non",   "post",    "pre",    "semi",  "seven",    "self",   "sister",
    "sixty",  "son",   "thirty",  "twenty", "vice",  "well"};

constexpr std::string_view kSoftHyphen = "\xC2\xAD";
constexpr std::string_view kUnicodeHyphen = "\xE2\x80\x90";
constexpr std::string_view kNotSign = "\xC2\xAC";  // how some typewriters and models show hyphens

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string_view LastWord(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && IsWordByte(text[begin - 1])) --begin;
  return text.substr(begin);
}

std::string_view FirstWord(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && IsWordByte(text[end])) ++end;
  return text.substr(0, end);
}

// A small letter of Latin, as far as bytes tell: those of other scripts have hyphens of their own.
bool BeginsSmall(std::string_view text) {
  const auto c = static_cast<unsigned char>(text.empty() ? 0 : text[0]);
  if (c < 0x80) return std::islower(c) != 0;
  // U+00DF to U+00FF: C3 9F to C3 BF.
  return c == 0xC3 && text.size() > 1 && static_cast<unsigned char>(text[1]) >= 0x9F;
}

bool KeepsHyphen(std::string_view before, std::string_view after, const PageWords& words) {
  const std::string part = Lower(before);
  if (std::find(kKeepHyphen.begin(), kKeepHyphen.end(), part) != kKeepHyphen.end()) return true;
  return words.HasHyphenated(part + "-" + Lower(after));
}

double Width(const LineResult& line) { return line.box.x1 - line.box.x0; }

// Whether the lines of a region end where lines do that are broken by width: before a word that has
// no room up to the end of the longest. Few short lines may do so by chance.
bool FillsItsWidth(const RegionResult& region, double right) {
  constexpr size_t kFewestLines = 4, kFewestLetters = 28;
  constexpr double kMostOnPurpose = 0.2;  // ends of paragraphs
  const size_t count = region.lines.size();
  size_t letters = 0;
  for (const LineResult& line : region.lines) letters += line.text.size();
  if (count < kFewestLines || letters < kFewestLetters * count) return false;
  double on_purpose = 0;
  for (size_t i = 0; i + 1 < count; ++i) {
    on_purpose += EndsOnPurpose(region.lines[i], region.lines[i + 1], right) ? 1 : 0;
  }
  return on_purpose <= kMostOnPurpose * static_cast<double>(count - 1);
}

}  // namespace

PageWords::PageWords(const PageResult& page) {
  const auto add = [&](std::string_view line) {
    for (size_t at = line.find('-'); at != std::string_view::npos; at = line.find('-', at + 1)) {
      const std::string_view before = LastWord(line.substr(0, at));
      const std::string_view after = FirstWord(line.substr(at + 1));
      if (!before.empty() && !after.empty()) {
        hyphenated_.insert(Lower(before) + "-" + Lower(after));
      }
    }
  };
  for (const RegionResult& region : page.regions) {
    for (const LineResult& line : region.lines) add(line.text);
  }
}

bool GoesOnIn(const RegionResult& text, const RegionResult& next) {
  constexpr size_t kFewestLetters = 28;  // of its last line
  const auto is_text = [](const RegionResult& region) {
    return region.kind == RegionKind::kText && !region.table && !region.text.empty();
  };
  if (!is_text(text) || !is_text(next) || !BeginsSmall(next.text)) return false;
  const std::string_view above = text.text;
  const size_t hyphen = EndingHyphen(above);
  if (hyphen > 0) return !LastWord(above.substr(0, above.size() - hyphen)).empty();
  const std::string_view last = above.substr(above.rfind('\n') + 1);
  return last.size() >= kFewestLetters && (IsWordByte(last.back()) || last.ends_with(','));
}

size_t EndingHyphen(std::string_view line) {
  for (const std::string_view hyphen :
       {std::string_view("-"), kSoftHyphen, kUnicodeHyphen, kNotSign}) {
    if (line.size() > hyphen.size() && line.ends_with(hyphen)) return hyphen.size();
  }
  return 0;
}

std::string JoinLines(std::string_view above, std::string_view below, const PageWords& words) {
  std::string text(above);
  const size_t hyphen = EndingHyphen(text);
  if (hyphen == 0 || !BeginsSmall(below)) {
    if (!text.empty() && !below.empty()) text += ' ';
    return text.append(below);
  }
  const std::string_view before = LastWord(std::string_view(text).substr(0, text.size() - hyphen));
  if (before.empty()) return text.append(" ").append(below);  // a dash, no hyphen
  if (!KeepsHyphen(before, FirstWord(below), words)) text.resize(text.size() - hyphen);
  return text.append(below);
}

bool EndsOnPurpose(const LineResult& line, const LineResult& next, double right) {
  const size_t letters = CodePoints(next.text).size();
  if (letters == 0 || line.text.empty()) return false;
  const size_t word = CodePoints(next.text.substr(0, next.text.find(' '))).size();
  const double letter = Width(next) / static_cast<double>(letters);
  // A space before the word, and one more for what the estimate is worth.
  return right - line.box.x1 > letter * static_cast<double>(word + 2) + 0.02 * Width(next);
}

double RightEdge(const PageResult& page, const RegionResult& region) {
  double left = 1e9, own_right = 0;
  for (const LineResult& line : region.lines) {
    left = std::min(left, line.box.x0);
    own_right = std::max(own_right, line.box.x1);
  }
  if (FillsItsWidth(region, own_right)) return own_right;  // a column, whatever stands above it
  double right = own_right;
  for (const RegionResult& other : page.regions) {
    if (other.table) continue;
    for (const LineResult& line : other.lines) {
      const double height = line.box.y1 - line.box.y0;
      if (std::abs(line.box.x0 - left) < height) right = std::max(right, line.box.x1);
    }
  }
  return right;
}

std::string OnOneLine(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : " ") + line;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::vector<std::string> Reflow(const RegionResult& region, double right, const PageWords& words) {
  std::vector<std::string> text;
  bool new_line = true;
  for (size_t i = 0; i < region.lines.size(); ++i) {
    const LineResult& line = region.lines[i];
    if (line.text.empty()) continue;
    if (new_line) {
      text.push_back(line.text);
    } else {
      text.back() = JoinLines(text.back(), line.text, words);
    }
    new_line = i + 1 < region.lines.size() && EndsOnPurpose(line, region.lines[i + 1], right);
  }
  return text;
}

}  // namespace platen
