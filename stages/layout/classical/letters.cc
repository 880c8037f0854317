#include "stages/layout/classical/letters.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <opencv2/imgproc.hpp>

#include "stages/layout/classical/ink_sums.h"
#include "stages/layout/strip_index.h"

namespace platen::layout {
namespace {

// All in letter heights unless said otherwise.
constexpr double kPicture = 7.0;           // a picture is larger than this both ways
constexpr double kPictureFill = 0.18;      // ... and at least so dense (share of its box)
constexpr double kSolidPictureFill = 0.5;  // from here on its whole box is picture
constexpr double kPictureClosing = 2.5;    // holes of this size in pictures belong to them
constexpr double kEdgeTall = 4.0;          // what touches the page's edge and is this high
constexpr double kEdgeWide = 8.0;          // ... or this wide is border
constexpr double kCoreLowest = 0.62;
constexpr double kCoreHighest = 2.9;
constexpr double kCoreWidest = 18.0;
constexpr double kTallest = 14.0;
constexpr double kPointGap = 0.95;    // white beside a point in a word, at most
constexpr double kPointWidest = 0.5;  // itself
constexpr double kPointHangs = 0.4;   // below the letters' feet, or ends above them
constexpr double kTypedGap = 0.3;  // before a typed point, at least: elsewhere it hugs its letter

class Sorter {
 public:
  Sorter(const Components& components, double xh, double skew_degrees)
      : components_(components),
        items_(components.items),
        page_(components.size),
        xh_(xh),
        gone_(components.items.size(), 0) {
    // Turning the page has moved its edges inwards.
    edge_ = 2 + std::abs(std::tan(skew_degrees * std::numbers::pi / 180)) *
                    std::max(page_.width, page_.height) / 2;
  }

  Letters Sort() {
    DropPictures();
    DropEdges();
    Letters letters;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (!gone_[i]) Classify(items_[i], letters);
    }
    return letters;
  }

 private:
  bool IsPicture(const Component& c) const {
    const double least = kPicture * xh_;
    return c.height > least && c.width > least &&
           c.area > kPictureFill * c.width * static_cast<double>(c.height);
  }

  // Drops pictures and what lies more than half inside them. By their ink, never by their boxes: a
  // black border joined to a photo has the page's text in its box.
  void DropPictures() {
    std::vector<const Component*> pictures;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (!IsPicture(items_[i])) continue;
      gone_[i] = 1;
      pictures.push_back(&items_[i]);
    }
    if (pictures.empty()) return;
    const InkSums cover(PictureMask(pictures));
    for (size_t i = 0; i < items_.size(); ++i) {
      const Component& c = items_[i];
      const double inside = cover.In(c.x, c.y, c.x + c.width, c.y + c.height);
      if (inside > 0.5 * c.width * static_cast<double>(c.height)) gone_[i] = 1;
    }
  }

  // 1 where the pictures are.
  cv::Mat PictureMask(const std::vector<const Component*>& pictures) const {
    cv::Mat mask(page_, CV_8U, cv::Scalar(0));
    for (const Component* c : pictures) {
      if (c->area > kSolidPictureFill * c->rect().area()) {
        mask(c->rect()).setTo(1);
      } else {
        components_.Paint(*c, 1, mask);
      }
    }
    const int closing = static_cast<int>(kPictureClosing * xh_) | 1;
    cv::morphologyEx(mask, mask, cv::MORPH_CLOSE, cv::Mat(closing, closing, CV_8U, cv::Scalar(1)));
    return mask;
  }

  bool AtLeft(const Component& c) const { return c.x <= edge_; }
  bool AtTop(const Component& c) const { return c.y <= edge_; }
  bool AtRight(const Component& c) const { return c.x + c.width >= page_.width - edge_; }
  bool AtBottom(const Component& c) const { return c.y + c.height >= page_.height - edge_; }

  bool IsBorder(const Component& c) const {
    const bool at_edge = AtLeft(c) || AtTop(c) || AtRight(c) || AtBottom(c);
    return at_edge && (c.height > kEdgeTall * xh_ || c.width > kEdgeWide * xh_);
  }

  // Drops large components at the page's edge, and the specks between a narrow one and the edge.
  void DropEdges() {
    for (size_t i = 0; i < items_.size(); ++i) {
      if (!IsBorder(items_[i])) continue;
      gone_[i] = 1;
      const Component& border = items_[i];
      if (border.width >= kEdgeWide * xh_ && border.height >= kEdgeWide * xh_) continue;
      for (size_t j = 0; j < items_.size(); ++j) {
        if (LiesBehind(border, items_[j])) gone_[j] = 1;
      }
    }
  }

  bool LiesBehind(const Component& border, const Component& c) const {
    const double margin = 0.4 * xh_;
    const double right = border.x + border.width, bottom = border.y + border.height;
    if (border.height > border.width) {
      if (c.y + c.height <= border.y || c.y >= bottom) return false;
      return (AtLeft(border) && c.x + c.width <= right + margin) ||
             (AtRight(border) && c.x >= border.x - margin);
    }
    if (c.x + c.width <= border.x || c.x >= right) return false;
    return (AtTop(border) && c.y + c.height <= bottom + margin) ||
           (AtBottom(border) && c.y >= border.y - margin);
  }

  void Classify(const Component& c, Letters& letters) const {
    const double w = c.width, h = c.height;
    if (h >= kCoreLowest * xh_ && h <= kCoreHighest * xh_ && w <= kCoreWidest * xh_ &&
        w >= 0.1 * xh_ && c.area >= 0.05 * xh_ * xh_) {
      letters.core.push_back(c.box());
    } else if (h > kCoreHighest * xh_ && h <= kTallest * xh_ && w <= 3 * h && w > 0.08 * h) {
      letters.tall.push_back(c.box());
    } else if (h < kCoreLowest * xh_ && c.area >= std::max(3.0, 0.012 * xh_ * xh_) && w < 3 * xh_) {
      letters.small.push_back(c.box());
    }
  }

  const Components& components_;
  const std::vector<Component>& items_;
  cv::Size page_;
  double xh_;
  double edge_;  // pixels within which a component touches the page's edge
  std::vector<uint8_t> gone_;
};

// The letter whose foot a point stands beside, nearest to it on one side; -1: none.
class LettersBeside {
 public:
  LettersBeside(const std::vector<Box>& core, double xh)
      : core_(core), xh_(xh), index_(core, 3 * xh) {}

  int Left(const Box& point) {
    return Nearest(point, [&](const Box& letter) { return point.x0 - letter.x1; });
  }
  int Right(const Box& point) {
    return Nearest(point, [&](const Box& letter) { return letter.x0 - point.x1; });
  }

 private:
  bool OnOneFoot(const Box& letter, const Box& point) const {
    return point.y0 > letter.center_y() && std::abs(point.y1 - letter.y1) < kPointHangs * xh_;
  }

  template <typename Gap>
  int Nearest(const Box& point, Gap gap) {
    index_.Find(point.y0, point.y1, near_);
    int nearest = -1;
    for (int i : near_) {
      const Box& letter = core_[static_cast<size_t>(i)];
      const double white = gap(letter);
      if (white < 0 || white > kPointGap * xh_ || !OnOneFoot(letter, point)) continue;
      if (nearest < 0 || white < gap(core_[static_cast<size_t>(nearest)])) nearest = i;
    }
    return nearest;
  }

  const std::vector<Box>& core_;
  double xh_;
  StripIndex index_;
  std::vector<int> near_;
};

}  // namespace

void ReachOverPoints(double letter_height, Letters& letters) {
  std::vector<Box> reaching = letters.core;
  LettersBeside beside(letters.core, letter_height);
  for (const Box& point : letters.small) {
    if (point.width() > kPointWidest * letter_height) continue;
    const int left = beside.Left(point);
    if (left < 0 || beside.Right(point) < 0) continue;
    const double gap = point.x0 - letters.core[static_cast<size_t>(left)].x1;
    Box& letter = reaching[static_cast<size_t>(left)];
    if (gap > kTypedGap * letter_height) letter.x1 = std::max(letter.x1, point.x1);
  }
  letters.core = std::move(reaching);
  std::sort(letters.core.begin(), letters.core.end(), LeftOf);
}

Letters FindLetters(const Components& components, double letter_height, double skew_degrees) {
  return Sorter(components, letter_height, skew_degrees).Sort();
}

}  // namespace platen::layout
