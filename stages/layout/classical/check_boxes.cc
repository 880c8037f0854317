#include "stages/layout/classical/check_boxes.h"

#include <algorithm>
#include <cmath>

namespace platen::layout {
namespace {

// In letter heights.
constexpr double kLowest = 0.9, kHighest = 3.6;
constexpr double kReach = 4.0;  // white between a box and its line; on its left there is more
// Shares of its side.
constexpr double kSquare = 0.15;  // its sides differ by no more
constexpr double kSide = 0.2;     // a side's ink lies within this of the edge
constexpr double kDrawn = 0.92;   // of each side that is drawn
constexpr double kInner = 0.25;   // the middle begins here
// Of its middle that is ink: a tick, or a solid square.
constexpr double kTick = 0.06, kSolid = 0.8;

// How much of a side is drawn, looked at from outside: `at(i, k)` tells the ink of its i-th place,
// k pixels from the edge.
template <typename At>
double Drawn(int length, int depth, const At& at) {
  int drawn = 0;
  for (int i = 0; i < length; ++i) {
    bool ink = false;
    for (int k = 0; k < depth && !ink; ++k) ink = at(i, k);
    drawn += ink;
  }
  return static_cast<double>(drawn) / length;
}

// `mask`: of the component.
bool HasFourSides(const cv::Mat& mask) {
  const int depth = std::max(2, static_cast<int>(kSide * std::min(mask.cols, mask.rows)));
  const auto ink = [&](int x, int y) { return mask.at<uint8_t>(y, x) != 0; };
  const int w = mask.cols, h = mask.rows;
  return Drawn(w, depth, [&](int i, int k) { return ink(i, k); }) > kDrawn &&
         Drawn(w, depth, [&](int i, int k) { return ink(i, h - 1 - k); }) > kDrawn &&
         Drawn(h, depth, [&](int i, int k) { return ink(k, i); }) > kDrawn &&
         Drawn(h, depth, [&](int i, int k) { return ink(w - 1 - k, i); }) > kDrawn;
}

// The share of a box's middle that is ink, also of what does not touch its sides.
double InkInMiddle(const cv::Mat& ink, const Component& c) {
  const int dx = static_cast<int>(kInner * c.width), dy = static_cast<int>(kInner * c.height);
  const cv::Mat middle = ink(cv::Rect(c.x + dx, c.y + dy, c.width - 2 * dx, c.height - 2 * dy));
  return static_cast<double>(cv::countNonZero(middle)) / static_cast<double>(middle.total());
}

bool IsWithin(const Box& inner, const Box& outer) {
  return inner.x0 >= outer.x0 && inner.x1 <= outer.x1 && inner.y0 >= outer.y0 &&
         inner.y1 <= outer.y1;
}

// Nothing else stands on its left.
bool BeginsRow(const Box& box, double xh, const std::vector<Box>& core) {
  return std::none_of(core.begin(), core.end(), [&](const Box& letter) {
    return letter.x0 < box.x0 && letter.x1 > box.x0 - kReach * xh && OverlapY(letter, box) > 0;
  });
}

}  // namespace

std::vector<FoundCheckBox> FindCheckBoxes(const cv::Mat& ink, const Components& components,
                                          double letter_height) {
  std::vector<FoundCheckBox> boxes;
  for (const Component& c : components.items) {
    const int larger = std::max(c.width, c.height);
    if (c.height < kLowest * letter_height || larger > kHighest * letter_height) continue;
    if (std::abs(c.width - c.height) > kSquare * larger) continue;
    if (!HasFourSides(components.Mask(c))) continue;
    const double inked = InkInMiddle(ink, c);
    if (inked > kSolid) continue;
    boxes.push_back({c.box(), inked > kTick ? CheckBox::kTicked : CheckBox::kEmpty});
  }
  return boxes;
}

void TakeCheckBoxes(double letter_height, std::vector<FoundCheckBox>& boxes, Letters& letters) {
  std::erase_if(boxes, [&](const FoundCheckBox& found) {
    return !BeginsRow(found.box, letter_height, letters.core);
  });
  for (const FoundCheckBox& found : boxes) {
    const auto inside = [&](const Box& b) { return IsWithin(b, found.box); };
    std::erase_if(letters.core, inside);
    std::erase_if(letters.tall, inside);
    std::erase_if(letters.small, inside);
  }
}

void MarkLines(const std::vector<FoundCheckBox>& boxes, double letter_height,
               std::vector<Phrase>& lines) {
  for (const FoundCheckBox& found : boxes) {
    Phrase* nearest = nullptr;
    for (Phrase& line : lines) {
      const double gap = line.box.x0 - found.box.x1;
      const double middle = found.box.center_y();
      if (gap < 0 || gap > kReach * letter_height) continue;
      if (middle < line.box.y0 || middle > line.box.y1) continue;
      if (nearest == nullptr || line.box.x0 < nearest->box.x0) nearest = &line;
    }
    if (nearest != nullptr) nearest->check_box = found.state;
  }
}

}  // namespace platen::layout
