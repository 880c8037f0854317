#include "stages/layout/classical/orientation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "stages/layout/classical/chain.h"
#include "stages/layout/classical/letter_height.h"
#include "stages/layout/classical/quads.h"
#include "stages/layout/classical/skew.h"
#include "stages/layout/strip_index.h"

namespace platen::layout {
namespace {

constexpr size_t kFewestLetters = 20;
// Neighbours in a word are closer than this; lines are not (letter heights).
constexpr double kLetterGap = 0.4;
// Share of letters that have such a neighbour: 0.5 to 0.8 along the lines of 60 sample pages, at
// most 0.04 across them.
constexpr double kJoinedAlong = 0.3;
constexpr double kAlongToAcross = 4.0;

constexpr size_t kFewestInLine = 6;  // letters
constexpr size_t kFewestInPage = 60;
constexpr double kSameLevel = 0.12;  // letter heights
// Of the sample pages, upright prose has an evidence of 0.09 to 0.29, capitals and digits 0 to
// 0.07; none is below 0.
constexpr double kClearEvidence = 0.04;
constexpr double kClearDeviations = 1.4;
// Where that says nothing: marks at the height of tops against those at the baseline.
constexpr int kFewestMarks = 12;
constexpr int kClearMarks = 3;

std::vector<Component> Transposed(std::vector<Component> components) {
  for (Component& c : components) {
    std::swap(c.x, c.y);
    std::swap(c.width, c.height);
  }
  return components;
}

// Letters of ordinary size, by LeftOf.
std::vector<Box> OrdinaryLetters(const std::vector<Component>& components, double xh) {
  std::vector<Box> letters;
  for (const Component& c : components) {
    const double w = c.width, h = c.height;
    if (std::min(w, h) > 0.3 * xh && std::max(w, h) > 0.62 * xh && std::max(w, h) < 2.9 * xh) {
      letters.push_back(c.box());
    }
  }
  std::sort(letters.begin(), letters.end(), LeftOf);
  return letters;
}

// Share of the letters that are joined to another one on their right.
double Joined(const std::vector<Box>& letters, double xh) {
  const auto chains = Chain(letters, {.gap_floor = kLetterGap * xh, .gap_factor = 0});
  return 1 -
         static_cast<double>(chains.size()) / std::max(1.0, static_cast<double>(letters.size()));
}

// Tops and bottoms of a line's letters, its slope taken away, sorted.
struct Levels {
  std::vector<double> tops, bottoms;
};

Levels LevelsOf(const Phrase& line, double slope) {
  Levels levels;
  for (const Box& b : line.letters) {
    const double lift = slope * (b.center_x() - line.box.center_x());
    levels.tops.push_back(b.y0 - lift);
    levels.bottoms.push_back(b.y1 - lift);
  }
  std::sort(levels.tops.begin(), levels.tops.end());
  std::sort(levels.bottoms.begin(), levels.bottoms.end());
  return levels;
}

// The largest number of values within `reach` of a common one. `values` are sorted.
double MostOnOneLevel(const std::vector<double>& values, double reach) {
  size_t most = 0;
  for (size_t i = 0, first = 0; i < values.size(); ++i) {
    while (values[i] - values[first] > 2 * reach) ++first;
    most = std::max(most, i - first + 1);
  }
  return static_cast<double>(most);
}

// Votes of the lines: letters that share their lower end less those that share their upper one.
struct Votes {
  double sum = 0, squares = 0, letters = 0;

  double evidence() const { return sum / std::max(1.0, letters); }
  double deviations() const { return sum / std::max(1.0, std::sqrt(squares)); }
};

struct MarkCount {
  int high = 0, low = 0;
};

// Counts the small marks in the upper and in the lower quarter of their lines.
MarkCount CountMarks(const PageLines& found, const std::vector<double>& slopes, double xh) {
  std::vector<Box> boxes;
  for (const Phrase& line : found.lines) boxes.push_back(line.box);
  const StripIndex index(boxes, 3 * xh);
  std::vector<std::pair<double, double>> body;  // median top and bottom
  for (size_t i = 0; i < found.lines.size(); ++i) {
    const Levels levels = LevelsOf(found.lines[i], slopes[i]);
    body.emplace_back(Median(levels.tops), Median(levels.bottoms));
  }
  MarkCount count;
  std::vector<int> near;
  for (const Box& mark : found.small) {
    index.Find(mark.center_y() - 0.3 * xh, mark.center_y() + 0.3 * xh, near);
    for (int i : near) {
      const Box& b = boxes[i];
      if (mark.center_x() < b.x0 - xh || mark.center_x() > b.x1 + xh) continue;
      if (mark.center_y() < b.y0 - 0.3 * xh || mark.center_y() > b.y1 + 0.3 * xh) continue;
      const double y = mark.center_y() - slopes[i] * (mark.center_x() - b.center_x());
      const double place = (y - body[i].first) / std::max(1.0, body[i].second - body[i].first);
      count.high += place < 0.25;
      count.low += place > 0.75;
      break;
    }
  }
  return count;
}

}  // namespace

bool LiesOnItsSide(const std::vector<Component>& components, double letter_height) {
  const std::vector<Component> turned = Transposed(components);
  const std::optional<double> turned_height = LetterHeight(turned);
  const std::vector<Box> letters = OrdinaryLetters(components, letter_height);
  if (letters.size() < kFewestLetters || !turned_height) return false;
  const double across = Joined(letters, letter_height);
  const double along = Joined(OrdinaryLetters(turned, *turned_height), *turned_height);
  if (along < kJoinedAlong || along < kAlongToAcross * across) return false;
  return LineContrast(turned, *turned_height, FindSkew(turned, *turned_height)) >
         LineContrast(components, letter_height, FindSkew(components, letter_height));
}

bool IsUpsideDown(const PageLines& found, double letter_height) {
  std::vector<double> slopes;
  Votes votes;
  for (const Phrase& line : found.lines) {
    slopes.push_back(BaselineSlope(line, letter_height));
    if (line.letters.size() < kFewestInLine) continue;
    const Levels levels = LevelsOf(line, slopes.back());
    const double reach = kSameLevel * letter_height;
    const double vote = MostOnOneLevel(levels.bottoms, reach) - MostOnOneLevel(levels.tops, reach);
    votes.sum += vote;
    votes.squares += vote * vote;
    votes.letters += static_cast<double>(levels.tops.size());
  }
  if (votes.letters < kFewestInPage) return false;
  if (votes.evidence() < -kClearEvidence) return votes.deviations() < -kClearDeviations;
  if (votes.evidence() > kClearEvidence / 2) return false;
  const MarkCount marks = CountMarks(found, slopes, letter_height);
  return marks.high >= kFewestMarks && marks.high > kClearMarks * marks.low;
}

}  // namespace platen::layout
