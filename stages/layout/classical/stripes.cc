#include "stages/layout/classical/stripes.h"

#include <algorithm>

#include "stages/layout/strip_index.h"

namespace platen::layout {
namespace {

constexpr double kToEdge = 0.01;  // share of the page's height; no printed ruling comes so near
// In letter heights. Letters of one word, and of the columns beside a ruling.
constexpr double kTouching = 0.5, kReach = 3.0;
constexpr int kFewestThrough = 2;
constexpr double kThrough = 0.05;  // of the letters within kReach: three or four a line

// Among the letters on the left of a ruling, those with a letter as close on its right.
struct Beside {
  int letters = 0, through = 0;
};

Beside CountBeside(const Ruling& ruling, const std::vector<Box>& letters, double xh) {
  const StripIndex index(letters, 3 * xh);
  std::vector<int> near;
  Beside count;
  for (const Box& left : letters) {
    const double white = ruling.at - left.x1;
    if (left.center_x() > ruling.at || white > kReach * xh) continue;
    ++count.letters;
    if (white > kTouching * xh) continue;
    index.Find(left.y0, left.y1, near);
    count.through += std::any_of(near.begin(), near.end(), [&](int i) {
      const Box& right = letters[static_cast<size_t>(i)];
      return right.center_x() > ruling.at && right.x0 < ruling.at + kTouching * xh &&
             OverlapY(left, right) > 0.3 * std::min(left.height(), right.height());
    });
  }
  return count;
}

}  // namespace

std::vector<Box> TakeStripes(const std::vector<Box>& letters, double page_height,
                             double letter_height, std::vector<Ruling>& verticals) {
  std::vector<Box> stripes;
  std::erase_if(verticals, [&](const Ruling& v) {
    if (v.from > kToEdge * page_height || v.to < (1 - kToEdge) * page_height) return false;
    const Beside count = CountBeside(v, letters, letter_height);
    if (count.through < std::max<double>(kFewestThrough, kThrough * count.letters)) return false;
    stripes.push_back({v.at - 1, v.from, v.at + 1, v.to});
    return true;
  });
  return stripes;
}

}  // namespace platen::layout
