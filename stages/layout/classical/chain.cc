#include "stages/layout/classical/chain.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "stages/layout/disjoint_sets.h"
#include "stages/layout/strip_index.h"

namespace platen::layout {
namespace {

bool OnOneLine(const Box& a, const Box& b, const ChainRule& rule) {
  const double lower = std::min(a.height(), b.height());
  return OverlapY(a, b) > rule.overlap * lower &&
         std::max(a.height(), b.height()) < rule.height_ratio * lower;
}

// Distance from `a` to its right neighbour `b`: the gap and half the difference of their heights
// on the page.
double Distance(const Box& a, const Box& b) {
  return std::max(0.0, b.x0 - a.x1) + 0.5 * std::abs((b.y0 + b.y1) - (a.y0 + a.y1));
}

}  // namespace

std::vector<std::vector<int>> Chain(
    const std::vector<Box>& boxes, const ChainRule& rule,
    const std::function<bool(const Box& left, const Box& right)>& apart) {
  assert(std::is_sorted(boxes.begin(), boxes.end(), LeftOf));
  if (boxes.empty()) return {};
  double tallest = 1;
  for (const Box& box : boxes) tallest = std::max(tallest, box.height());
  const StripIndex index(boxes, tallest);
  DisjointSets sets(boxes.size());
  std::vector<int> beside;
  for (int i = 0; i < static_cast<int>(boxes.size()); ++i) {
    const Box& left = boxes[i];
    const double reach = left.x1 + std::max(rule.gap_floor, rule.gap_factor * left.height());
    int nearest = -1;
    double least = 0;
    index.Find(left.y0, left.y1, beside);
    for (auto j = std::upper_bound(beside.begin(), beside.end(), i); j != beside.end(); ++j) {
      const Box& right = boxes[*j];
      if (right.x0 > reach) break;
      if (!OnOneLine(left, right, rule)) continue;
      if (right.x0 < left.x1) sets.Join(i, *j);
      const double distance = Distance(left, right);
      if (nearest < 0 || distance < least) {
        nearest = *j;
        least = distance;
      }
    }
    if (nearest >= 0 && !(apart && apart(left, boxes[nearest]))) sets.Join(i, nearest);
  }
  return sets.Groups();
}

}  // namespace platen::layout
