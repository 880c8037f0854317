#include "stages/layout/classical/line_metrics.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace platen::layout {
namespace {

// Capitals and digits are about this many x-heights high (1.25 to 1.5 in common typefaces).
constexpr double kCapHeight = 1.4;
// Letters with ascender, capitals and digits, in x-heights.
constexpr double kLowestAscender = 1.22;
constexpr double kHighestAscender = 1.75;
// Of a line: how much higher than the page's x-height its capitals are where it is a headline.
constexpr double kHeadlineCaps = 1.85;
// A letter higher than this (x-heights) touches the next line: its ends say nothing.
constexpr double kHighestLetter = 2.3;
// Accents of capitals end here (x-heights above the baseline).
constexpr double kHighestAccent = 1.95;
constexpr size_t kFewestLetters = 6;

// A letter, the slope of its line taken away.
struct Letter {
  double top, bottom, width;
  double height() const { return bottom - top; }
};

std::vector<Letter> Level(const Phrase& line, double slope) {
  std::vector<Letter> letters;
  for (const Box& b : line.letters) {
    const double lift = slope * (b.center_x() - line.box.center_x());
    letters.push_back({b.y0 - lift, b.y1 - lift, b.width()});
  }
  return letters;
}

// 1 where two heights are equal, falling to 0 at `reach`.
double Agreement(double difference, double reach) {
  return std::max(0.0, 1 - std::abs(difference) / reach);
}

// The height that most letters stand on. Tops count as well, if they are one x-height above it, and
// half if a capital's height: in short words descenders may outnumber the other bottoms.
double FindBaseline(const std::vector<Letter>& letters, double size) {
  const double reach = 0.2 * size;
  double best = letters.front().bottom, best_score = -1;
  for (const Letter& candidate : letters) {
    double score = 0;
    for (const Letter& l : letters) {
      const double rise = candidate.bottom - l.top;
      const double top =
          std::max(Agreement(rise - size, reach), Agreement(rise - kCapHeight * size, reach) / 2);
      score += std::min(l.width, 2 * size) * (Agreement(candidate.bottom - l.bottom, reach) + top);
    }
    if (score > best_score || (score == best_score && candidate.bottom < best)) {
      best = candidate.bottom;
      best_score = score;
    }
  }
  double sum = 0;
  int n = 0;
  for (const Letter& l : letters) {
    if (std::abs(l.bottom - best) > 0.12 * size) continue;
    sum += l.bottom;
    ++n;
  }
  return sum / n;
}

// How far letters that stand on the baseline or cross it rise above it.
std::vector<double> Rises(const std::vector<Letter>& letters, double baseline, double size) {
  std::vector<double> rises;
  for (const Letter& l : letters) {
    const bool stands = l.bottom > baseline - 0.2 * size && l.top < baseline - 0.3 * size;
    if (stands && l.height() < kHighestLetter * size) rises.push_back(baseline - l.top);
  }
  return rises;
}

// Shares that make a height the x-height.
struct TwoHeights {
  double fewest_small;  // of all letters: as high as it
  double fewest_tall;   // ... with ascender, capitals, digits
  double most_below;    // ... clearly smaller
};

// Share of the heights between two.
double ShareBetween(const std::vector<double>& sorted, double low, double high) {
  const auto begin = std::lower_bound(sorted.begin(), sorted.end(), low);
  return static_cast<double>(std::upper_bound(begin, sorted.end(), high) - begin) /
         static_cast<double>(sorted.size());
}

// Of those of letters with ascender above letters of height `x`.
double ShareOfTall(const std::vector<double>& sorted, double x) {
  return ShareBetween(sorted, kLowestAscender * x, kHighestAscender * x);
}

// The x-height of letters of two heights. Nothing where there is only one (capitals, digits,
// "noon"). `rises` is not empty; looks between `from` and `to`.
std::optional<double> XHeight(std::vector<double> rises, double from, double to,
                              const TwoHeights& rule) {
  std::sort(rises.begin(), rises.end());
  double best = 0, best_share = 0;
  for (double x = from; x <= to; x += (to - from) / 64) {
    const double small = ShareBetween(rises, 0.9 * x, 1.1 * x);
    const double tall = ShareOfTall(rises, x);
    if (small < rule.fewest_small || tall < rule.fewest_tall) continue;
    if (ShareBetween(rises, 0, 0.85 * x) > rule.most_below || small + tall <= best_share) continue;
    best = x;
    best_share = small + tall;
  }
  if (best == 0) return std::nullopt;
  const auto begin = std::lower_bound(rises.begin(), rises.end(), 0.9 * best);
  const auto end = std::upper_bound(begin, rises.end(), 1.1 * best);
  return Median({begin, end});
}

// Size for the measures of one line: the page's, unless its letters are clearly others.
double SizeOf(const std::vector<Letter>& letters, double page) {
  std::vector<double> heights;
  for (const Letter& l : letters) heights.push_back(l.height());
  const double median = Median(std::move(heights));
  return median < 0.8 * page || median > 1.7 * page ? median / 1.2 : page;
}

}  // namespace

PageMetrics::PageMetrics(const std::vector<Phrase>& lines, const std::vector<double>& slopes,
                         double letter_height)
    : letter_height_(letter_height), x_height_(letter_height) {
  std::vector<double> rises;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].letters.size() < kFewestLetters) continue;
    const std::vector<Letter> letters = Level(lines[i], slopes[i]);
    const double baseline = FindBaseline(letters, letter_height);
    const std::vector<double> of_line = Rises(letters, baseline, letter_height);
    rises.insert(rises.end(), of_line.begin(), of_line.end());
  }
  if (rises.size() < 3 * kFewestLetters) return;
  std::sort(rises.begin(), rises.end());
  const TwoHeights rule = {0.15, 0.05, 0.25};
  const std::optional<double> measured =
      XHeight(rises, 0.55 * letter_height, 1.15 * letter_height, rule);
  // Capitals have a scatter of their own above them, which is no letter with ascender.
  if (measured && ShareOfTall(rises, *measured) >= rule.fewest_tall) {
    x_height_ = *measured;
    return;
  }
  const auto taller = std::count_if(rises.begin(), rises.end(), [&](double rise) {
    return rise > kLowestAscender * letter_height;
  });
  // One height only: capitals and digits.
  if (static_cast<double>(taller) < 0.05 * static_cast<double>(rises.size())) {
    x_height_ = letter_height / kCapHeight;
  }
}

LineMetrics PageMetrics::Measure(const Phrase& line, double slope) const {
  const std::vector<Letter> letters = Level(line, slope);
  double size = SizeOf(letters, x_height_);
  LineMetrics metrics;
  metrics.baseline = FindBaseline(letters, size);
  const std::vector<double> rises = Rises(letters, metrics.baseline, size);
  if (!rises.empty()) {
    const bool enough = rises.size() >= kFewestLetters;
    const double typical = Quantile(rises, enough ? 0.5 : 1.0);
    std::optional<double> measured;
    if (enough) measured = XHeight(rises, 0.5 * typical, 1.1 * typical, {0.25, 0.08, 0.2});
    if (measured) {
      metrics.letter_height = *measured;
    } else if (typical > kHeadlineCaps * x_height_) {
      metrics.letter_height = typical / kCapHeight;
    }
    if (metrics.letter_height > 0) size = metrics.letter_height;
    metrics.ascent = *std::max_element(rises.begin(), rises.end());
  }
  for (const Letter& l : letters) {
    if (l.height() > kHighestLetter * size) continue;
    metrics.descent = std::max(metrics.descent, l.bottom - metrics.baseline);
  }
  const double accents = metrics.baseline - ExtentAlong(line, slope, letter_height_).top;
  metrics.ascent = std::max(metrics.ascent, std::min(accents, kHighestAccent * size));
  return metrics;
}

}  // namespace platen::layout
