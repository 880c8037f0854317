#include "stages/layout/classical/lines.h"

#include <algorithm>
#include <cmath>

#include "stages/layout/disjoint_sets.h"
#include "stages/layout/strip_index.h"

namespace platen::layout {
namespace {

// In letter heights.
constexpr double kLineGap = 3.4;      // widest gap in a line
constexpr double kBridgedGap = 8.0;   // ... where a neighbouring line runs straight through it
constexpr double kBridgeReach = 3.0;  // how far above or below that line may be
constexpr double kBulletWidth = 3.2;
constexpr double kBulletGap = 3.0;
// Shares of heights.
constexpr double kLineOverlap = 0.5;
constexpr double kLineRatio = 2.6;
constexpr double kLikeHeight = 0.6;  // not an apostrophe or a comma

std::vector<Box> BoxesOf(const std::vector<Phrase>& phrases) {
  std::vector<Box> boxes;
  boxes.reserve(phrases.size());
  for (const Phrase& p : phrases) boxes.push_back(p.box);
  return boxes;
}

class Joiner {
 public:
  Joiner(const std::vector<Phrase>& phrases, const Gutters& gutters,
         const std::vector<VerticalRuling>& verticals, double xh)
      : phrases_(phrases),
        gutters_(gutters),
        verticals_(verticals),
        xh_(xh),
        boxes_(BoxesOf(phrases)),
        index_(boxes_, 3 * xh),
        sets_(phrases.size()) {}

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

  // How far to the right the line above or below runs straight past the end of phrase i.
  double BridgeEnd(int i, const std::vector<int>& near) const {
    const Box& b = boxes_[i];
    double end = 0;
    for (int j : near) {
      const Box& other = boxes_[j];
      const bool beside = std::abs((other.y0 + other.y1) - (b.y0 + b.y1)) < 2 * kBridgeReach * xh_;
      if (beside && other.x0 < b.x1 - xh_ && OverlapY(b, other) < 0.3 * other.height()) {
        end = std::max(end, other.x1 - xh_);
      }
    }
    return end;
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
    const double bridge_end = BridgeEnd(i, near_);
    const double size = SizeOf(i);
    int nearest = -1, nearest_like = -1;
    for (int j : near_) {
      const Box& right = boxes_[j];
      const double widest = (right.x0 < bridge_end ? kBridgedGap : kLineGap) * size;
      if (j == i || !MayFollow(left, right, size, widest)) continue;
      if (nearest < 0 || right.x0 < boxes_[nearest].x0) nearest = j;
      if (right.height() <= kLikeHeight * left.height()) continue;
      if (nearest_like < 0 || right.x0 < boxes_[nearest_like].x0) nearest_like = j;
    }
    if (nearest >= 0) Link(i, nearest);
    if (nearest_like >= 0 && nearest_like != nearest) Link(i, nearest_like);
  }

  void Link(int i, int j) {
    const Box& left = boxes_[i];
    const Box& right = boxes_[j];
    for (const VerticalRuling& v : verticals_) {
      if (left.x1 - 0.3 * xh_ < v.x && v.x < right.x0 + 0.3 * xh_ && v.y0 < left.center_y() &&
          left.center_y() < v.y1) {
        return;
      }
    }
    const bool bullet = left.width() < kBulletWidth * xh_ && right.x0 - left.x1 < kBulletGap * xh_;
    if (!bullet && gutters_.Between(left, right)) return;
    sets_.Join(i, j);
  }

  const std::vector<Phrase>& phrases_;
  const Gutters& gutters_;
  const std::vector<VerticalRuling>& verticals_;
  double xh_;
  std::vector<Box> boxes_;
  StripIndex index_;
  DisjointSets sets_;
  std::vector<int> near_;
};

}  // namespace

std::vector<Phrase> JoinPhrases(const std::vector<Phrase>& phrases, const Gutters& gutters,
                                const std::vector<VerticalRuling>& verticals,
                                double letter_height) {
  return Joiner(phrases, gutters, verticals, letter_height).Join();
}

void AddSmallMarks(const std::vector<Box>& small, double letter_height,
                   std::vector<Phrase>& lines) {
  const double xh = letter_height;
  const std::vector<Box> boxes = BoxesOf(lines);  // before they are widened
  const StripIndex index(boxes, 3 * xh);
  std::vector<int> near;
  for (const Box& mark : small) {
    const double x = mark.center_x(), y = mark.center_y();
    int nearest = -1;
    index.Find(y - 0.25 * xh, y + 0.45 * xh, near);
    for (int i : near) {
      const Box& b = boxes[i];
      if (x <= b.x0 - 1.7 * xh || x >= b.x1 + 1.7 * xh) continue;
      if (y <= b.y0 - 0.45 * xh || y >= b.y1 + 0.25 * xh) continue;
      const double distance = std::abs(b.center_y() - y);
      if (nearest < 0 || distance < std::abs(boxes[nearest].center_y() - y)) nearest = i;
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
