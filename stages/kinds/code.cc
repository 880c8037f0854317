#include "stages/kinds/code.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/support/utf8.h"
#include "stages/kinds/split_regions.h"

namespace platen {
namespace {

constexpr size_t kMostLines = 100;  // that a pitch is measured on
constexpr size_t kFewestCharacters = 4;
constexpr size_t kFewestApart = 3;      // characters, of two lines that are compared
constexpr double kFits = 0.4;           // of the advance
constexpr double kMostFit = 0.75;       // share of the lines
constexpr double kNeighboursFit = 0.6;  // of a region beside code
constexpr double kIndentedFit = 0.3;    // of one that is indented as code is
// The advance in x-heights: 1.1 to 1.25 in common faces.
constexpr double kLeastAdvance = 0.85;
constexpr double kMostAdvance = 1.8;
constexpr double kCodeSigns = 0.04;  // share of the characters
constexpr double kSamePrint = 1.15;  // ratio of x-heights
constexpr double kMostLeadings = 3.5;
constexpr long kMostRows = 3;  // from a line to the next

double LengthOf(const LineResult& line) {
  const ResultPoint &a = line.quad[0], &b = line.quad[1];
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  return length > 0 ? length : line.box.x1 - line.box.x0;
}

double CharactersOf(const LineResult& line) {
  return static_cast<double>(CodePoints(line.text).size());
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool Fits(const LineResult& line, const Pitch& pitch) {
  const double wanted = CharactersOf(line) * pitch.advance + pitch.margin;
  return std::abs(LengthOf(line) - wanted) < kFits * pitch.advance;
}

bool MostFit(std::span<const LineResult> lines, const Pitch& pitch, double share = kMostFit) {
  const auto fitting = std::count_if(lines.begin(), lines.end(),
                                     [&](const auto& line) { return Fits(line, pitch); });
  return static_cast<double>(fitting) >= share * static_cast<double>(lines.size());
}

double SizeOf(const RegionResult& region) {
  std::vector<double> sizes;
  for (const LineResult& line : region.lines) {
    if (line.x_height > 0) sizes.push_back(line.x_height);
  }
  return sizes.empty() ? 0 : Median(std::move(sizes));
}

// Share of signs that code is full of and prose is not.
bool HasCodeSigns(const RegionResult& region) {
  constexpr std::string_view kSigns = "{}()[]<>=;_\"'\\#&|$";
  double signs = 0, all = 0;
  char before = ' ';
  for (const char c : region.text) {
    if (c == ' ' || c == '\n') continue;
    ++all;
    const bool run = c == before && c == '_';  // a blank to fill in
    if (!run && kSigns.find(c) != std::string_view::npos) ++signs;
    before = c;
  }
  return signs >= kCodeSigns * all;
}

// Where a line begins, along the text, so that the page's skew does not count.
double StartOf(const LineResult& line, const LineResult& longest) {
  const ResultPoint &a = longest.quad[0], &b = longest.quad[1];
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  if (length <= 0) return line.box.x0;
  return (line.quad[0].x * (b.x - a.x) + line.quad[0].y * (b.y - a.y)) / length;
}

const LineResult& LongestOf(const RegionResult& region) {
  return *std::max_element(region.lines.begin(), region.lines.end(),
                           [](const auto& a, const auto& b) { return LengthOf(a) < LengthOf(b); });
}

// The usual step from line to line; 0: there is one line.
double LeadingOf(const RegionResult& region) {
  std::vector<double> steps;
  for (size_t i = 0; i + 1 < region.lines.size(); ++i) {
    steps.push_back(BottomOf(region.lines[i + 1]) - BottomOf(region.lines[i]));
  }
  return steps.empty() ? 0 : Median(std::move(steps));
}

// A region of code with the pitch of its print.
struct Code {
  RegionResult region;
  Pitch pitch;
};

std::optional<Pitch> CodePitchOf(const RegionResult& region) {
  if (!IsPlainText(region) || !HasCodeSigns(region)) return std::nullopt;
  return PitchOf(region.lines);
}

// Whether plain text below or above code goes on with it.
bool BelongsTo(const Code& code, const RegionResult& other) {
  if (!IsPlainText(other)) return false;
  const bool below = other.box.y0 > code.region.box.y0;
  const LineResult& last = below ? code.region.lines.back() : other.lines.back();
  const LineResult& first = below ? other.lines.front() : code.region.lines.front();
  const double leading = LeadingOf(code.region), step = BottomOf(first) - BottomOf(last);
  if (step <= 0 || step > kMostLeadings * leading) return false;
  const double size = SizeOf(code.region), other_size = SizeOf(other);
  if (size > 0 && other_size > 0 &&
      std::max(size, other_size) > kSamePrint * std::min(size, other_size)) {
    return false;
  }
  std::set<long> columns;
  const LineResult& longest = LongestOf(code.region);
  const double left = StartOf(code.region.lines.front(), longest);
  for (const LineResult& line : other.lines) {
    const double column = (StartOf(line, longest) - left) / code.pitch.advance;
    if (std::abs(column - std::round(column)) >= kFits / 2) return false;
    columns.insert(std::lround(column));
  }
  return MostFit(other.lines, code.pitch, columns.size() > 1 ? kIndentedFit : kNeighboursFit);
}

// The lines with the spaces and empty lines that the page shows.
std::string CodeText(const RegionResult& region, const Pitch& pitch) {
  const LineResult& longest = LongestOf(region);
  double left = StartOf(region.lines[0], longest);
  for (const LineResult& line : region.lines) left = std::min(left, StartOf(line, longest));
  const double leading = LeadingOf(region);
  std::string text;
  size_t used = 0;  // columns of the row that is being written
  for (size_t i = 0; i < region.lines.size(); ++i) {
    const LineResult& line = region.lines[i];
    if (line.text.empty()) continue;
    const double step = i > 0 ? BottomOf(line) - BottomOf(region.lines[i - 1]) : 0;
    const auto rows = leading > 0 ? std::lround(step / leading) : 1;
    if (!text.empty() && rows != 0) {
      text.append(static_cast<size_t>(std::clamp(rows, 1L, kMostRows)), '\n');
      used = 0;
    }
    const auto column =
        static_cast<size_t>(std::lround((StartOf(line, longest) - left) / pitch.advance));
    const size_t spaces = column > used ? column - used : std::min<size_t>(used, 1);
    text.append(spaces, ' ').append(line.text);
    used += spaces + CodePoints(line.text).size();
  }
  return text;
}

// What is known of the pitch of code that a layout model has found.
Pitch AnyPitchOf(const RegionResult& region) {
  if (const std::optional<Pitch> pitch = PitchOf(region.lines)) return *pitch;
  const LineResult& longest = LongestOf(region);
  return {LengthOf(longest) / std::max(1.0, CharactersOf(longest)), 0};
}

// Takes the regions that follow `regions[next]`, a region of code, and go on with it.
size_t TakeFollowing(std::vector<RegionResult>& regions, size_t next, Code& code) {
  while (next < regions.size() && BelongsTo(code, regions[next])) {
    AppendRegion(regions[next++], code.region);
  }
  return next;
}

}  // namespace

std::optional<Pitch> PitchOf(std::span<const LineResult> lines) {
  std::vector<LineResult> long_enough;
  for (const LineResult& line : lines.first(std::min(lines.size(), kMostLines))) {
    if (CharactersOf(line) >= kFewestCharacters) long_enough.push_back(line);
  }
  if (long_enough.size() < 3) return std::nullopt;
  std::vector<double> slopes;
  for (const LineResult& a : long_enough) {
    for (const LineResult& b : long_enough) {
      const double apart = CharactersOf(a) - CharactersOf(b);
      if (apart >= kFewestApart) slopes.push_back((LengthOf(a) - LengthOf(b)) / apart);
    }
  }
  if (slopes.size() < 2) return std::nullopt;
  Pitch pitch = {Median(std::move(slopes)), 0};
  std::vector<double> margins, sizes;
  for (const LineResult& line : long_enough) {
    margins.push_back(LengthOf(line) - CharactersOf(line) * pitch.advance);
    if (line.x_height > 0) sizes.push_back(line.x_height);
  }
  pitch.margin = Median(std::move(margins));
  const double size = sizes.empty() ? 0 : Median(std::move(sizes));
  const bool usual =
      size <= 0 || (pitch.advance > kLeastAdvance * size && pitch.advance < kMostAdvance * size);
  if (!usual || std::abs(pitch.margin) > pitch.advance) return std::nullopt;
  return MostFit(long_enough, pitch) ? std::optional(pitch) : std::nullopt;
}

void AssignCode(PageResult& page) {
  std::vector<RegionResult> regions = std::move(page.regions);
  page.regions.clear();
  for (size_t i = 0; i < regions.size();) {
    if (regions[i].kind == RegionKind::kCode && !regions[i].lines.empty()) {
      regions[i].text = CodeText(regions[i], AnyPitchOf(regions[i]));
    }
    const std::optional<Pitch> pitch = CodePitchOf(regions[i]);
    if (!pitch) {
      page.regions.push_back(std::move(regions[i++]));
      continue;
    }
    Code code = {std::move(regions[i++]), *pitch};
    while (!page.regions.empty() && BelongsTo(code, page.regions.back())) {
      RegionResult above = std::move(page.regions.back());
      page.regions.pop_back();
      AppendRegion(code.region, above);
      code.region = std::move(above);
    }
    i = TakeFollowing(regions, i, code);
    code.region.kind = RegionKind::kCode;
    code.region.text = CodeText(code.region, code.pitch);
    page.regions.push_back(std::move(code.region));
  }
}

}  // namespace platen
