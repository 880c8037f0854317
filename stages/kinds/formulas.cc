#include "stages/kinds/formulas.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "stages/kinds/split_regions.h"

namespace platen {
namespace {

constexpr size_t kMostLines = 2;
constexpr size_t kMostBytes = 120;
constexpr double kLeastIndent = 3;     // x-heights, at both sides
constexpr double kOffCentre = 0.2;     // of the column's width
constexpr double kMostLetters = 0.75;  // share of the characters
constexpr size_t kShortWord = 2;       // letters of names: "ab", "dx"
constexpr double kReach = 12;          // x-heights to the text that shows the column
constexpr double kScore = 0.5;         // such a guess is worth no more

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// = < > and "less or equal" ... of U+2248 to U+2267, arrows
bool HasRelation(std::string_view text) {
  if (text.find_first_of("=<>") != std::string_view::npos) return true;
  constexpr std::array<std::string_view, 7> kRelations = {
      "\xE2\x89\x88", "\xE2\x89\xA0", "\xE2\x89\xA1", "\xE2\x89\xA4",
      "\xE2\x89\xA5", "\xE2\x86\x92", "\xE2\x88\x9D"};
  return std::any_of(kRelations.begin(), kRelations.end(), [&](std::string_view sign) {
    return text.find(sign) != std::string_view::npos;
  });
}

bool IsFunction(std::string_view word) {
  constexpr std::array<std::string_view, 12> kNames = {"sin", "cos", "tan", "log", "exp", "lim",
                                                       "max", "min", "sup", "inf", "det", "arg"};
  return std::find(kNames.begin(), kNames.end(), word) != kNames.end();
}

// Names, numbers and signs, no words.
bool ReadsAsFormula(std::string_view text) {
  if (text.size() > kMostBytes || !HasRelation(text)) return false;
  double letters = 0, all = 0;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && IsLetter(text[end])) ++end;
    if (end == i) {
      all += text[i] == ' ' || text[i] == '\n' ? 0 : 1;
      ++i;
      continue;
    }
    const std::string_view word = text.substr(i, end - i);
    if (word.size() > kShortWord && !IsFunction(word)) return false;
    letters += IsFunction(word) ? 0 : static_cast<double>(word.size());
    all += static_cast<double>(word.size());
    i = end;
  }
  return letters > 0 && letters <= kMostLetters * all;
}

// "(3)", "(2.14)", "(7a)".
bool IsFormulaNumber(std::string_view text) {
  if (text.size() < 3 || text.size() > 8 || text.front() != '(' || text.back() != ')') return false;
  if (std::isdigit(static_cast<unsigned char>(text[1])) == 0) return false;
  return std::all_of(text.begin() + 1, text.end() - 1, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
  });
}

struct Column {
  double left = 0, right = 0;
};

// The edges of the paragraphs above and below that stand over the region.
Column ColumnAround(const PageResult& page, const RegionResult& region, double reach) {
  Column column = {region.box.x0, region.box.x1};
  for (const RegionResult& other : page.regions) {
    if (&other == &region || other.table || other.lines.size() < 2) continue;
    const double apart = std::max(other.box.y0 - region.box.y1, region.box.y0 - other.box.y1);
    const bool over = other.box.x0 < region.box.x1 && other.box.x1 > region.box.x0;
    if (!over || apart < 0 || apart > reach) continue;
    column.left = std::min(column.left, other.box.x0);
    column.right = std::max(column.right, other.box.x1);
  }
  return column;
}

// Whether a box stands in the middle of its column, away from both edges.
bool IsInTheMiddle(const ResultBox& box, const Column& column, double size) {
  const double before = box.x0 - column.left, after = column.right - box.x1;
  return std::min(before, after) >= kLeastIndent * size &&
         std::abs(before - after) <= kOffCentre * (column.right - column.left);
}

bool IsFormula(const PageResult& page, const RegionResult& region, double size) {
  if (!IsPlainText(region) || region.lines.size() > kMostLines) return false;
  return ReadsAsFormula(region.text) &&
         IsInTheMiddle(region.box, ColumnAround(page, region, kReach * size), size);
}

// Lines of a paragraph that are formulas become regions of their own.
void SplitAtFormulas(PageResult& page) {
  std::vector<RegionResult> regions;
  for (RegionResult& region : page.regions) {
    const Column column = {region.box.x0, region.box.x1};
    std::set<size_t> starts = {0};
    for (size_t i = 0; IsPlainText(region) && i < region.lines.size(); ++i) {
      const LineResult& line = region.lines[i];
      if (!ReadsAsFormula(line.text) || !IsInTheMiddle(line.box, column, page.x_height)) continue;
      starts.insert({i, i + 1});
    }
    starts.erase(region.lines.size());
    if (starts.size() < 2) {
      regions.push_back(std::move(region));
      continue;
    }
    for (auto start = starts.begin(); start != starts.end(); ++start) {
      const auto next = std::next(start);
      const size_t end = next == starts.end() ? region.lines.size() : *next;
      regions.push_back(PartOf(region, *start, end));
    }
  }
  page.regions = std::move(regions);
}

// The number of a formula: beside it, further right.
bool IsNumberOf(const RegionResult& formula, const RegionResult& region) {
  if (!IsPlainText(region) || region.lines.size() != 1) return false;
  const double middle = (region.box.y0 + region.box.y1) / 2;
  return IsFormulaNumber(region.text) && middle > formula.box.y0 && middle < formula.box.y1 &&
         region.box.x0 > formula.box.x1;
}

}  // namespace

void AssignFormulas(PageResult& page) {
  SplitAtFormulas(page);
  for (size_t i = 0; i < page.regions.size(); ++i) {
    RegionResult& region = page.regions[i];
    if (!IsFormula(page, region, page.x_height)) continue;
    region.kind = RegionKind::kFormula;
    region.score = std::min(region.score, kScore);
    const auto formula = page.regions.begin() + static_cast<std::ptrdiff_t>(i);
    const auto number = std::find_if(page.regions.begin(), page.regions.end(),
                                     [&](const auto& other) { return IsNumberOf(region, other); });
    if (number == page.regions.end()) continue;
    number->kind = RegionKind::kFormulaNumber;
    number->score = region.score;
    if (number < formula) {  // its ink may stand a little higher
      std::rotate(number, number + 1, formula + 1);
    } else {
      std::rotate(formula + 1, number, number + 1);
    }
  }
}

}  // namespace platen
