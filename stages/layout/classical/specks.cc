#include "stages/layout/classical/specks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "stages/layout/strip_index.h"

namespace platen::layout {
namespace {

// In letter heights unless said otherwise.
constexpr double kLargest = 1.3;  // side of a speck
constexpr double kLowestLetter = 0.6, kHighestLetter = 2.9;
constexpr double kBesideLetter = 2.0;  // white between a point and a letter of its line
constexpr double kInRow = 1.5;         // ... and between dots of a row
constexpr double kSameFoot = 0.15;     // by which dots of a row differ
constexpr int kFewest = 30;            // lone specks of a dirty page

bool IsSpeck(const Component& c, double xh) {
  return c.disc && std::max(c.width, c.height) <= kLargest * xh;
}

bool IsLetter(const Component& c, double xh) {
  return c.height >= kLowestLetter * xh && c.height <= kHighestLetter * xh;
}

// Boxes that can be asked for what lies beside another.
class Rows {
 public:
  Rows(std::vector<Box> boxes, double xh) : boxes_(std::move(boxes)), index_(boxes_, 3 * xh) {}

  // Calls `visit` with each box that meets the rows of `box`, grown by `reach` above and below.
  template <typename Visit>
  void ForEachBeside(const Box& box, double reach, const Visit& visit) {
    const double top = box.y0 - reach, bottom = box.y1 + reach;
    index_.Find(top, bottom, near_);
    for (int i : near_) {
      const Box& other = boxes_[static_cast<size_t>(i)];
      if (other.y0 < bottom && other.y1 > top) visit(other);
    }
  }

 private:
  std::vector<Box> boxes_;
  StripIndex index_;
  std::vector<int> near_;
};

double WhiteBetween(const Box& a, const Box& b) { return std::max(a.x0 - b.x1, b.x0 - a.x1); }

class SpeckFinder {
 public:
  SpeckFinder(const std::vector<Component>& components, double xh)
      : xh_(xh), letters_(BoxesOf(components, false), xh), specks_(BoxesOf(components, true), xh) {}

  bool IsLone(const Component& c) {
    if (!IsSpeck(c, xh_)) return false;
    const Box box = c.box();
    bool beside_letter = false, dot_left = false, dot_right = false;
    letters_.ForEachBeside(box, kInRow * xh_, [&](const Box& letter) {
      beside_letter |= WhiteBetween(box, letter) < kBesideLetter * xh_;
    });
    specks_.ForEachBeside(box, 0, [&](const Box& dot) {
      const double white = WhiteBetween(box, dot);
      if (white < 0 || white > kInRow * xh_ || std::abs(dot.y1 - box.y1) > kSameFoot * xh_) return;
      (dot.x0 < box.x0 ? dot_left : dot_right) = true;
    });
    return !beside_letter && !(dot_left && dot_right);
  }

 private:
  std::vector<Box> BoxesOf(const std::vector<Component>& components, bool specks) const {
    std::vector<Box> boxes;
    for (const Component& c : components) {
      const bool speck = IsSpeck(c, xh_);
      if (speck == specks && (speck || IsLetter(c, xh_))) boxes.push_back(c.box());
    }
    return boxes;
  }

  double xh_;
  Rows letters_, specks_;
};

}  // namespace

void RemoveSpecks(double letter_height, cv::Mat& ink, Components& components) {
  SpeckFinder finder(components.items, letter_height);
  std::vector<uint8_t> lone;
  for (const Component& c : components.items) lone.push_back(finder.IsLone(c));
  if (std::count(lone.begin(), lone.end(), 1) < kFewest) return;
  std::vector<Component> kept;
  for (size_t i = 0; i < lone.size(); ++i) {
    if (lone[i]) {
      components.Paint(components.items[i], 0, ink);
    } else {
      kept.push_back(components.items[i]);
    }
  }
  components.items = std::move(kept);
}

}  // namespace platen::layout
