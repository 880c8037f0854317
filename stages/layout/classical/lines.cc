#include "stages/layout/classical/lines.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stages/layout/disjoint_sets.h"
#include "stages/layout/line_columns.h"
#include "stages/layout/strip_index.h"

namespace platen::layout {
namespace {

// In letter heights.
constexpr double kLineGap = 3.4;       // widest gap in a line
constexpr double kBridgedGap = 8.0;    // ... where a neighbouring line runs straight through it
constexpr double kWideSpace = 5.0;     // ... where one does, with wide spaces of its own, or wider
constexpr double kLeastBridged = 0.3;  // it runs on over the next word by this
constexpr double kOrdinarySpace = 1.4;
constexpr double kTimesAsWide = 3.0;  // a gap beside a line with wide spaces, times the widest
constexpr double kSpace = 1.5;        // between two words of running text, at most
constexpr double kOverSpace = 2.0;    // ... over which another line runs on by this
constexpr double kBridgeReach = 3.0;  // how far above or below that line may be
constexpr double kBulletWidth = 3.2;
constexpr double kBulletGap = 3.0;
// Shares of heights.
constexpr double kLineOverlap = 0.5;
constexpr double kLineRatio = 2.6;
constexpr double kLikeHeight = 0.6;  // not an apostrophe or a comma
// A scratch goes through at least so many phrases, and as many as end beside it.
constexpr int kFewestThrough = 2;
constexpr double kScratchReach = 3.0;  // letter heights
// Bullets and dashes before a line, in letter heights.
constexpr double kMarkReach = 6.0;
constexpr double kMarkWidest = 1.6;
constexpr double kMarkSmallest = 0.22;  // its longer side
constexpr double kMarkMiddle = 0.45;    // from the middle of the small letters
constexpr double kMarkColumn = 0.4;     // marks below one another
constexpr double kCellGap = 1.3;        // letter heights: white between two cells, at least
constexpr size_t kMostMarks = 2'000;

std::vector<Box> BoxesOf(const std::vector<Phrase>& phrases) {
  std::vector<Box> boxes;
  boxes.reserve(phrases.size());
  for (const Phrase& p : phrases) boxes.push_back(p.box);
  return boxes;
}

// What keeps phrases apart.
struct Barriers {
  const Gutters& gutters;
  const std::vector<Ruling>& verticals;
};

class Joiner {
 public:
  Joiner(const std::vector<Phrase>& phrases, const Barriers& barriers, double xh)
      : phrases_(phrases),
        barriers_(barriers),
        xh_(xh),
        boxes_(BoxesOf(phrases)),
        index_(boxes_, 3 * xh),
        sets_(phrases.size()) {
    for (const Phrase& p : phrases) widest_gaps_.push_back(WidestGap(p) / xh);
  }

  std::vector<Phrase> Join() {
    for (int i = 0; i < static_cast<int>(boxes_.size()); ++i) JoinToTheRight(i);
    std::vector<Phrase> lines;
    for (const std::vector<int>& group : sets_.Groups()) {
      Phrase line = phrases_[group[0]];
      for (size_t k = 1; k < group.size(); ++k) {
        const Phrase& p = phrases_[group[k]];
        line.letters.insert(line.letters.end(), p.letters.begin(), p.letters.end());
        line.box = Union(line.box, p.box);
      }
      lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  // Letter size of a phrase, in pixels.
  double SizeOf(int i) const {
    std::vector<double> heights;
    for (const Box& letter : phrases_[i].letters) heights.push_back(letter.height());
    return std::max(xh_, 0.8 * Median(std::move(heights)));
  }

  // White between two neighbouring letters, at most.
  static double WidestGap(const Phrase& phrase) {
    std::vector<Box> letters = phrase.letters;
    std::sort(letters.begin(), letters.end(), LeftOf);
    double widest = 0, end = letters[0].x1;
    for (const Box& letter : letters) {
      widest = std::max(widest, letter.x0 - end);
      end = std::max(end, letter.x1);
    }
    return widest;
  }

  // A line above or below that runs straight past the end of a phrase.
  struct Bridge {
    double end;         // pixels: how far to the right
    double widest_gap;  // letter heights: the phrase may go on after so much white
  };

  std::vector<Bridge> BridgesOver(int i, const std::vector<int>& near) const {
    const Box& b = boxes_[i];
    std::vector<Bridge> bridges;
    for (int j : near) {
      const Box& other = boxes_[j];
      const bool beside = std::abs((other.y0 + other.y1) - (b.y0 + b.y1)) < 2 * kBridgeReach * xh_;
      if (!beside || other.x0 >= b.x1 - xh_ || OverlapY(b, other) >= 0.3 * other.height()) continue;
      bridges.push_back({other.x1 - kLeastBridged * xh_, GapLike(widest_gaps_[j])});
    }
    return bridges;
  }

  // The widest gap of a line beside one whose own widest gap is `gap`; both in letter heights.
  static double GapLike(double gap) {
    if (gap < kOrdinarySpace) return kBridgedGap;
    return std::clamp(kTimesAsWide * gap, kWideSpace, kBridgedGap);
  }

  static double WidestGapBefore(double x, const std::vector<Bridge>& bridges) {
    double widest = kLineGap;
    for (const Bridge& bridge : bridges) {
      if (x < bridge.end) widest = std::max(widest, bridge.widest_gap);
    }
    return widest;
  }

  // `size`: of the letters of `left`; they may reach over the next ones by most of it.
  static bool MayFollow(const Box& left, const Box& right, double size, double widest_gap) {
    const double lower = std::min(left.height(), right.height());
    const double gap = right.x0 - left.x1;
    return OverlapY(left, right) > kLineOverlap * lower && gap > -0.8 * size && gap < widest_gap &&
           right.x0 > left.x0 && std::max(left.height(), right.height()) < kLineRatio * lower;
  }

  // Joins phrase i to the nearest one on its right, and to the nearest of about its own height, so
  // as to step over an apostrophe.
  void JoinToTheRight(int i) {
    const Box& left = boxes_[i];
    index_.Find(left.y0 - kBridgeReach * xh_, left.y1 + kBridgeReach * xh_, near_);
    const std::vector<Bridge> bridges = BridgesOver(i, near_);
    const double size = SizeOf(i);
    int nearest = -1, nearest_like = -1;
    for (int j : near_) {
      const Box& right = boxes_[j];
      const double widest = WidestGapBefore(right.x0, bridges) * size;
      if (j == i || !MayFollow(left, right, size, widest)) continue;
      if (nearest < 0 || right.x0 < boxes_[nearest].x0) nearest = j;
      if (right.height() <= kLikeHeight * left.height()) continue;
      if (nearest_like < 0 || right.x0 < boxes_[nearest_like].x0) nearest_like = j;
    }
    if (nearest >= 0) Link(i, nearest, bridges);
    if (nearest_like >= 0 && nearest_like != nearest) Link(i, nearest_like, bridges);
  }

  // A bullet or number before a line, not the last word of a column. `near_` is around phrase i.
  bool IsBullet(int i, const Box& right) const {
    const Box& bullet = boxes_[i];
    if (bullet.width() >= kBulletWidth * xh_ || right.x0 - bullet.x1 >= kBulletGap * xh_) {
      return false;
    }
    return std::none_of(near_.begin(), near_.end(), [&](int j) {
      const Box& other = boxes_[j];
      return j != i && other.x0 < bullet.x0 && bullet.x0 - other.x1 < kBridgedGap * xh_ &&
             OverlapY(other, bullet) > kLineOverlap * std::min(other.height(), bullet.height());
    });
  }

  // The channel of a table's column may end in a space between two words of the text below it, over
  // which the next line of that text runs on.
  bool IsSpace(const Box& left, const Box& right, const std::vector<Bridge>& bridges) const {
    return right.x0 - left.x1 < kSpace * xh_ &&
           std::any_of(bridges.begin(), bridges.end(), [&](const Bridge& bridge) {
             return right.x0 < bridge.end - kOverSpace * xh_;
           });
  }

  void Link(int i, int j, const std::vector<Bridge>& bridges) {
    const Box& left = boxes_[i];
    const Box& right = boxes_[j];
    for (const Ruling& v : barriers_.verticals) {
      if (left.x1 - 0.3 * xh_ < v.at && v.at < right.x0 + 0.3 * xh_ && v.from < left.center_y() &&
          left.center_y() < v.to) {
        return;
      }
    }
    const bool across_gutter = barriers_.gutters.Between(left, right) && !IsBullet(i, right);
    if (across_gutter && !IsSpace(left, right, bridges)) return;
    sets_.Join(i, j);
  }

  const std::vector<Phrase>& phrases_;
  const Barriers& barriers_;
  double xh_;
  std::vector<double> widest_gaps_;  // letter heights, by phrase
  std::vector<Box> boxes_;
  StripIndex index_;
  DisjointSets sets_;
  std::vector<int> near_;
};

// A line cut at its gaps of at least `gap`.
std::vector<Phrase> Parts(const Phrase& line, double gap) {
  std::vector<Box> letters = line.letters;
  std::sort(letters.begin(), letters.end(), LeftOf);
  std::vector<Phrase> parts = {{{letters[0]}, letters[0]}};
  for (size_t k = 1; k < letters.size(); ++k) {
    Phrase& last = parts.back();
    if (letters[k].x0 - last.box.x1 >= gap) {
      parts.push_back({{letters[k]}, letters[k]});
    } else {
      last.letters.push_back(letters[k]);
      last.box = Union(last.box, letters[k]);
    }
  }
  return parts;
}

// The line cut where its parts stand in different columns.
std::vector<Phrase> Cells(const Phrase& line, double gap, const std::vector<double>& edges) {
  const auto column = [&](const Phrase& part) {
    return std::upper_bound(edges.begin(), edges.end(), part.box.center_x()) - edges.begin();
  };
  std::vector<Phrase> cells;
  for (Phrase& part : Parts(line, gap)) {
    if (cells.empty() || column(cells.back()) != column(part)) {
      cells.push_back(std::move(part));
      continue;
    }
    Phrase& last = cells.back();
    last.letters.insert(last.letters.end(), part.letters.begin(), part.letters.end());
    last.box = Union(last.box, part.box);
  }
  if (cells.size() == 1) return {line};
  return cells;
}

// Lines outside a table that stand on its rows and within its width: two of its cells with little
// white between them.
std::vector<int> LinesOnRows(const std::vector<Box>& boxes, const std::vector<int>& table,
                             double xh) {
  Box whole = boxes[static_cast<size_t>(table[0])];
  for (int i : table) whole = Union(whole, boxes[static_cast<size_t>(i)]);
  std::vector<int> on_rows;
  for (size_t k = 0; k < boxes.size(); ++k) {
    const Box& b = boxes[k];
    if (b.x0 < whole.x0 - xh || b.x1 > whole.x1 + xh || OverlapY(b, whole) <= 0) continue;
    const bool on_row = std::any_of(table.begin(), table.end(), [&](int i) {
      return OnOneRow(b, boxes[static_cast<size_t>(i)]);
    });
    if (on_row) on_rows.push_back(static_cast<int>(k));
  }
  return on_rows;
}

// The line that a mark stands before, nearest to it; -1: none. Nothing else may stand between.
int LineBehind(const Box& mark, const std::vector<Box>& boxes, const StripIndex& index, double xh,
               std::vector<int>& near) {
  if (mark.width() > kMarkWidest * xh) return -1;
  if (std::max(mark.width(), mark.height()) < kMarkSmallest * xh) return -1;
  int nearest = -1;
  index.Find(mark.y0, mark.y1, near);
  for (int i : near) {
    const Box& line = boxes[i];
    if (mark.center_y() <= line.y0 || mark.center_y() >= line.y1) continue;
    if (line.x0 <= mark.x0 && line.x1 > mark.x0) return -1;
    if (line.x0 < mark.x1) continue;
    if (nearest < 0 || line.x0 < boxes[nearest].x0) nearest = i;
  }
  if (nearest < 0 || boxes[nearest].x0 - mark.x1 > kMarkReach * xh) return -1;
  const Box& line = boxes[nearest];
  // Descenders and ascenders may both be absent: the middle of the small letters lies between.
  const bool middle = std::abs(mark.center_y() - line.center_y()) < kMarkMiddle * xh;
  return middle ? nearest : -1;
}

}  // namespace

std::vector<Phrase> CutAtColumns(const std::vector<Phrase>& lines, double letter_height) {
  const double gap = kCellGap * letter_height;
  std::vector<std::vector<double>> edges(lines.size());  // of the table that a line is part of
  const std::vector<Box> boxes = BoxesOf(lines);
  for (const LineGroup& group : GroupLines(boxes, letter_height)) {
    if (!group.in_rows) continue;
    std::vector<Box> parts;
    for (int i : group.lines) {
      for (const Phrase& part : Parts(lines[i], gap)) parts.push_back(part.box);
    }
    const std::vector<double> columns = TableEdges(parts, letter_height);
    if (columns.empty()) continue;
    for (int i : group.lines) edges[static_cast<size_t>(i)] = columns;
    for (int i : LinesOnRows(boxes, group.lines, letter_height)) {
      if (edges[static_cast<size_t>(i)].empty()) edges[static_cast<size_t>(i)] = columns;
    }
  }
  std::vector<Phrase> cut;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (edges[i].empty()) {
      cut.push_back(lines[i]);
      continue;
    }
    for (Phrase& part : Cells(lines[i], gap, edges[i])) cut.push_back(std::move(part));
  }
  return cut;
}

void AddBullets(const std::vector<Box>& small, double letter_height, std::vector<Phrase>& lines) {
  const double xh = letter_height;
  const std::vector<Box> boxes = BoxesOf(lines);
  const StripIndex index(boxes, 3 * xh);
  std::vector<int> near;
  struct Mark {
    Box box;
    int line;
  };
  std::vector<Mark> marks;
  for (const Box& mark : small) {
    const int line = LineBehind(mark, boxes, index, xh, near);
    if (line >= 0) marks.push_back({mark, line});
  }
  if (marks.size() > kMostMarks) return;  // dirt
  for (const Mark& a : marks) {
    const bool in_column = std::any_of(marks.begin(), marks.end(), [&](const Mark& b) {
      return b.line != a.line && std::abs(a.box.x0 - b.box.x0) < kMarkColumn * xh &&
             std::abs(a.box.width() - b.box.width()) < kMarkColumn * xh &&
             std::abs(a.box.height() - b.box.height()) < kMarkColumn * xh;
    });
    if (in_column) lines[a.line].box.x0 = std::min(lines[a.line].box.x0, a.box.x0);
  }
}

std::vector<Ruling> WithoutScratches(const std::vector<Ruling>& verticals,
                                     const std::vector<Phrase>& phrases, double letter_height) {
  const double xh = letter_height;
  std::vector<Ruling> kept;
  for (const Ruling& v : verticals) {
    int through = 0, beside = 0;
    for (const Phrase& p : phrases) {
      if (p.box.center_y() < v.from || p.box.center_y() > v.to) continue;
      if (p.box.x0 < v.at - xh && p.box.x1 > v.at + xh) {
        ++through;
      } else if (p.box.x1 > v.at - kScratchReach * xh && p.box.x0 < v.at + kScratchReach * xh) {
        ++beside;
      }
    }
    if (through < kFewestThrough || through < beside) kept.push_back(v);
  }
  return kept;
}

std::vector<Phrase> JoinPhrases(const std::vector<Phrase>& phrases, const Gutters& gutters,
                                const std::vector<Ruling>& verticals, double letter_height) {
  const Barriers barriers = {gutters, verticals};
  const std::vector<Phrase> lines = Joiner(phrases, barriers, letter_height).Join();
  return Joiner(lines, barriers, letter_height).Join();
}

void AddSmallMarks(const std::vector<Box>& small, double letter_height,
                   std::vector<Phrase>& lines) {
  const double xh = letter_height;
  const std::vector<Box> boxes = BoxesOf(lines);  // before they are widened
  const StripIndex index(boxes, 3 * xh);
  std::vector<int> near;
  for (const Box& mark : small) {
    const double x = mark.center_x(), y = mark.center_y();
    // The line that it lies in, before those that end beside it: the dot of the next column's "i".
    int nearest = -1;
    std::pair<bool, double> least;
    index.Find(y - 0.25 * xh, y + 0.45 * xh, near);
    for (int i : near) {
      const Box& b = boxes[i];
      if (x <= b.x0 - 1.7 * xh || x >= b.x1 + 1.7 * xh) continue;
      if (y <= b.y0 - 0.45 * xh || y >= b.y1 + 0.25 * xh) continue;
      const std::pair distance(x < b.x0 || x > b.x1, std::abs(b.center_y() - y));
      if (nearest >= 0 && distance >= least) continue;
      nearest = i;
      least = distance;
    }
    if (nearest < 0) continue;
    Box& b = lines[nearest].box;
    b.x0 = std::min(b.x0, mark.x0);
    b.x1 = std::max(b.x1, mark.x1);
    b.y0 = std::min(b.y0, std::max(mark.y0, boxes[nearest].y0 - 0.45 * xh));
    b.y1 = std::max(b.y1, std::min(mark.y1, boxes[nearest].y1 + 0.3 * xh));
  }
}

}  // namespace platen::layout
