#include "stages/layout/reading_order.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace platen::layout {
namespace {

// In letter heights.
constexpr double kOverlap = 0.5;  // boxes that overlap by less stand beside each other
constexpr double kOneLine = 3.5;  // no block of one line is higher
// More blocks than this are no page of text; they are read from the top.
constexpr size_t kMostBlocks = 600;

// Blocks in the order of reading, after Breuel, "High performance document layout analysis" (2003):
// of two blocks, one above the other comes first; of two beside each other the left one, unless a
// block between them in height spans both, as a headline does over columns.
class BlockOrder {
 public:
  BlockOrder(const std::vector<Box>& blocks, double xh) : blocks_(blocks), xh_(xh) {
    FindInsets();
    FindOutermost(true);
    FindOutermost(false);
  }

  std::vector<int> Order() const {
    std::vector<int> order(blocks_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return std::tuple(At(a).y0, At(a).x0, a) < std::tuple(At(b).y0, At(b).x0, b);
    });
    if (blocks_.size() > kMostBlocks) return order;
    return Sorted(order);
  }

 private:
  const Box& At(int i) const { return blocks_[static_cast<size_t>(i)]; }

  bool OverX(const Box& a, const Box& b) const { return OverlapX(a, b) > kOverlap * xh_; }

  // A block between two columns, each of which goes on above and below it, is read after them.
  void FindInsets() {
    after_.resize(blocks_.size());
    if (blocks_.size() > kMostBlocks) return;
    for (size_t c = 0; c < blocks_.size(); ++c) {
      std::vector<int> around;
      for (size_t a = 0; a < blocks_.size(); ++a) {
        const bool holds = a != c && blocks_[a].y0 < blocks_[c].y0 - xh_ &&
                           blocks_[a].y1 > blocks_[c].y1 + xh_ && OverX(blocks_[a], blocks_[c]);
        if (holds) around.push_back(static_cast<int>(a));
      }
      if (around.size() >= 2) after_[c] = std::move(around);
    }
  }

  // Heads and feet of one line each, from the edge of the page inwards: they are read first or
  // last, whichever column they stand over or under.
  void FindOutermost(bool top) {
    outermost_.resize(blocks_.size(), 0);
    std::vector<int> from_edge(blocks_.size());
    std::iota(from_edge.begin(), from_edge.end(), 0);
    const auto edge = [&](int i) { return top ? At(i).y0 : -At(i).y1; };
    std::sort(from_edge.begin(), from_edge.end(),
              [&](int a, int b) { return std::tuple(edge(a), a) < std::tuple(edge(b), b); });
    for (size_t k = 0; k + 1 < from_edge.size(); ++k) {
      const Box &box = At(from_edge[k]), &next = At(from_edge[k + 1]);
      const double gap = top ? next.y0 - box.y1 : box.y0 - next.y1;
      if (box.height() > kOneLine * xh_ || gap < xh_) return;
      // All others begin behind the next one; none reaches back over this one.
      outermost_[static_cast<size_t>(from_edge[k])] = top ? -1 : 1;
    }
  }

  bool IsInset(int i) const { return !after_[static_cast<size_t>(i)].empty(); }

  bool SpannedBetween(const Box& a, const Box& b) const {
    const double top = std::min(a.y1, b.y1), bottom = std::max(a.y0, b.y0);
    for (size_t c = 0; c < blocks_.size(); ++c) {
      const Box& box = blocks_[c];
      if (&box == &a || &box == &b || IsInset(static_cast<int>(c))) continue;
      const double middle = box.center_y();
      if (middle > top && middle < bottom && OverX(box, a) && OverX(box, b)) return true;
    }
    return false;
  }

  bool Before(int i, int j) const {
    const Box &a = At(i), &b = At(j);
    const int rank_a = outermost_[static_cast<size_t>(i)];
    const int rank_b = outermost_[static_cast<size_t>(j)];
    if (rank_a != 0 || rank_b != 0) {
      return rank_a != rank_b ? rank_a < rank_b : a.center_y() < b.center_y();
    }
    if (IsInset(j)) {
      const std::vector<int>& around = after_[static_cast<size_t>(j)];
      if (std::find(around.begin(), around.end(), i) != around.end()) return true;
    }
    if (IsInset(i)) {
      const std::vector<int>& around = after_[static_cast<size_t>(i)];
      if (std::find(around.begin(), around.end(), j) != around.end()) return false;
    }
    if (OverX(a, b)) return a.center_y() < b.center_y() || (a.center_y() == b.center_y() && i < j);
    return a.center_x() < b.center_x() && !SpannedBetween(a, b);
  }

  // Of the blocks that no other comes before, the first of `from_top` is next; where they go round
  // in a circle, the first of all.
  std::vector<int> Sorted(const std::vector<int>& from_top) const {
    const size_t n = blocks_.size();
    std::vector<std::vector<int>> next(n);
    std::vector<int> waits(n, 0);
    for (int i : from_top) {
      for (int j : from_top) {
        if (i == j || !Before(i, j)) continue;
        next[static_cast<size_t>(i)].push_back(j);
        ++waits[static_cast<size_t>(j)];
      }
    }
    std::vector<int> left = from_top, order;
    while (!left.empty()) {
      auto first = std::find_if(left.begin(), left.end(),
                                [&](int i) { return waits[static_cast<size_t>(i)] == 0; });
      if (first == left.end()) first = left.begin();
      order.push_back(*first);
      for (int j : next[static_cast<size_t>(*first)]) --waits[static_cast<size_t>(j)];
      left.erase(first);
    }
    return order;
  }

  const std::vector<Box>& blocks_;
  double xh_;
  std::vector<std::vector<int>> after_;  // by block: the columns around an inset
  std::vector<int> outermost_;           // by block: -1 a head, 1 a foot
};

}  // namespace

std::vector<int> ReadingOrder(const std::vector<Box>& blocks, double letter_height) {
  return BlockOrder(blocks, letter_height).Order();
}

}  // namespace platen::layout
