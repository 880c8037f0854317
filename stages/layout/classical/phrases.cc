#include "stages/layout/classical/phrases.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stages/layout/classical/chain.h"
#include "stages/layout/strip_index.h"

namespace platen::layout {
namespace {

// All in letter heights unless said otherwise.
constexpr double kWordGap = 1.35;                     // widest gap inside a phrase
constexpr double kWordGapPerHeight = 0.6 * kWordGap;  // ... of the letter's own height
constexpr double kHeadGapPerHeight = 0.75;
constexpr double kHeadRatio = 2.2;        // heights of the letters of a headline
constexpr double kAboveMedianTop = 1.15;  // how far a phrase's box reaches beyond its median letter
constexpr double kBelowMedianBottom = 0.95;
constexpr size_t kFewestForMedian = 6;  // letters
constexpr double kLoneTall = 5.0;       // a single letter is a headline only if lower than this

// Middle of `edge` over the letters, each weighted by its width.
template <typename Edge>
double WeightedMedian(const std::vector<Box>& letters, Edge edge) {
  std::vector<std::pair<double, double>> sorted;  // edge, width
  double total = 0;
  for (const Box& letter : letters) {
    sorted.emplace_back(edge(letter), letter.width());
    total += letter.width();
  }
  std::sort(sorted.begin(), sorted.end());
  double below = 0;
  for (const auto& [value, width] : sorted) {
    below += width;
    if (below >= 0.5 * total) return value;
  }
  return sorted.back().first;
}

// A bracket, or a glyph that touches the next line, must not make the phrase swallow that line.
Box BodyBox(const std::vector<Box>& letters, double xh) {
  Box box = Union(letters);
  if (letters.size() < kFewestForMedian) return box;
  const double top = WeightedMedian(letters, [](const Box& b) { return b.y0; });
  const double bottom = WeightedMedian(letters, [](const Box& b) { return b.y1; });
  box.y0 = std::max(box.y0, top - kAboveMedianTop * xh);
  box.y1 = std::min(box.y1, bottom + kBelowMedianBottom * xh);
  return box;
}

std::vector<Box> Select(const std::vector<Box>& boxes, const std::vector<int>& indices) {
  std::vector<Box> selected;
  for (int i : indices) selected.push_back(boxes[i]);
  return selected;
}

// Large letters that do not lie in a phrase of small ones already.
std::vector<Box> LooseTallLetters(const std::vector<Box>& tall, const std::vector<Phrase>& phrases,
                                  double xh) {
  std::vector<Box> loose;
  for (const Box& t : tall) {
    const bool taken = std::any_of(phrases.begin(), phrases.end(), [&](const Phrase& p) {
      return p.box.width() > 4 * xh && OverlapX(p.box, t) > 0.5 * t.width() &&
             OverlapY(p.box, t) > 0.25 * t.height();
    });
    if (!taken) loose.push_back(t);
  }
  return loose;
}

bool LiesInHeadline(const Box& phrase, const Box& headline) {
  const double reach = 0.8 * headline.height();
  return OverlapY(phrase, headline) > 0.6 * phrase.height() && phrase.x0 > headline.x0 - reach &&
         phrase.x1 < headline.x1 + reach;
}

// Moves the phrases inside the headline (its dots, its lower case) into it.
void TakeIn(Phrase& headline, std::vector<Phrase>& phrases) {
  const Box frame = headline.box;
  auto outside = [&](const Phrase& p) { return !LiesInHeadline(p.box, frame); };
  const auto inside = std::stable_partition(phrases.begin(), phrases.end(), outside);
  for (auto p = inside; p != phrases.end(); ++p) {
    headline.letters.insert(headline.letters.end(), p->letters.begin(), p->letters.end());
  }
  if (inside == phrases.end()) return;
  phrases.erase(inside, phrases.end());
  headline.box = Union(headline.letters);
}

auto BetweenGutters(const Gutters& gutters) {
  return [&](const Box& left, const Box& right) { return gutters.Between(left, right); };
}

std::vector<Phrase> FindHeadlines(const std::vector<Box>& tall, const Gutters& gutters, double xh) {
  std::vector<Phrase> headlines;
  for (const std::vector<int>& chain :
       Chain(tall, {.gap_floor = 0, .gap_factor = kHeadGapPerHeight, .height_ratio = kHeadRatio},
             BetweenGutters(gutters))) {
    Phrase p = {Select(tall, chain), {}};
    p.box = Union(p.letters);
    if (p.letters.size() >= 2 || p.box.height() < kLoneTall * xh) headlines.push_back(std::move(p));
  }
  return headlines;
}

// A comma or full stop ends a phrase: gaps are measured from it, not from the letter before.
void LengthenByPunctuation(const std::vector<Box>& small, double xh, std::vector<Phrase>& phrases) {
  if (phrases.empty()) return;
  std::vector<Box> boxes;
  for (const Phrase& p : phrases) boxes.push_back(p.box);
  const StripIndex index(boxes, 3 * xh);
  std::vector<int> near;
  for (const Box& mark : small) {
    const double y = mark.center_y();
    int nearest = -1;
    index.Find(y - 0.3 * xh, y, near);
    for (int i : near) {
      const Box& b = boxes[i];
      const bool right_of = mark.x0 >= b.x1 - 0.3 * xh && mark.x0 < b.x1 + 0.8 * xh;
      if (!right_of || y <= b.y0 || y >= b.y1 + 0.3 * xh) continue;
      if (nearest < 0 || std::abs(b.x1 - mark.x0) < std::abs(boxes[nearest].x1 - mark.x0)) {
        nearest = i;
      }
    }
    if (nearest >= 0) phrases[nearest].box.x1 = std::max(phrases[nearest].box.x1, mark.x1);
  }
}

}  // namespace

std::vector<Phrase> FindPhrases(const Letters& letters, const Gutters& gutters,
                                double letter_height) {
  const double xh = letter_height;
  std::vector<Phrase> phrases;
  for (const std::vector<int>& chain :
       Chain(letters.core, {.gap_floor = kWordGap * xh, .gap_factor = kWordGapPerHeight},
             BetweenGutters(gutters))) {
    Phrase p = {Select(letters.core, chain), {}};
    p.box = BodyBox(p.letters, xh);
    phrases.push_back(std::move(p));
  }
  std::vector<Phrase> headlines =
      FindHeadlines(LooseTallLetters(letters.tall, phrases, xh), gutters, xh);
  for (Phrase& headline : headlines) TakeIn(headline, phrases);
  LengthenByPunctuation(letters.small, xh, phrases);
  std::move(headlines.begin(), headlines.end(), std::back_inserter(phrases));
  return phrases;
}

}  // namespace platen::layout
