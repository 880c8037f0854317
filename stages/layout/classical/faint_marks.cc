#include "stages/layout/classical/faint_marks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <opencv2/imgproc.hpp>
#include <span>

namespace platen::layout {
namespace {

// In letter heights unless said otherwise.
constexpr double kLeastWidth = 6, kLeastHeight = 3;   // of a mark
constexpr double kOneWidth = 48, kOneHeight = 30;     // ... and at most, of a single one
constexpr double kMostWidth = 100, kMostHeight = 60;  // of several that hang together
constexpr double kNoRuling = 0.6;  // of their width: no run is as long, or it is a pale grid
constexpr double kMostInk = 0.25;  // share of its bounds: it is made of strokes
constexpr double kLowestLetter = 0.62, kHighestLetter = 2.9;
constexpr int kLighter = 38;  // grey levels, medians of the mark and of letters
constexpr double kMargin = 0.5;
// Share of the bounds that is as dark as letters: a mark on white paper can be read, unless it
// stands aslant.
constexpr double kLeastPrint = 0.02;
constexpr int kPalest = 209;          // grey levels, paper is 255: marks are no lighter
constexpr double kFreeMiddle = 0.02;  // share of a frame that is in the middle of its box
constexpr int kFewestLetters = 3;     // of words in a frame
constexpr double kAslant = 3.5;       // degrees
constexpr double kLooseBounds = 1.1;  // a ring's are as small, whatever way it is turned

class Tones {
 public:
  void Add(const cv::Mat& flat, std::span<const Run> component) {
    for (const Run& run : component) {
      const auto* tone = flat.ptr<uint8_t>(run.y);
      for (int x = run.x0; x < run.x1; ++x) ++counts_[tone[x]];
      all_ += run.x1 - run.x0;
    }
  }

  int Median() const {
    int64_t seen = 0;
    for (int tone = 0; tone < 256; ++tone) {
      seen += counts_[static_cast<size_t>(tone)];
      if (2 * seen >= all_) return tone;
    }
    return 255;
  }

 private:
  std::array<int64_t, 256> counts_ = {};
  int64_t all_ = 0;
};

bool IsLetter(const Component& c, double xh) {
  return c.height > kLowestLetter * xh && c.height < kHighestLetter * xh &&
         c.width < kHighestLetter * xh;
}

bool IsMark(const Components& components, const Component& c, double xh) {
  if (c.width < kLeastWidth * xh || c.height < kLeastHeight * xh) return false;
  if (c.area > kMostInk * c.rect().area()) return false;
  if (c.width < kOneWidth * xh && c.height < kOneHeight * xh) return true;
  const std::span<const Run> runs = components.RunsOf(c);
  return c.width < kMostWidth * xh && c.height < kMostHeight * xh &&
         std::none_of(runs.begin(), runs.end(),
                      [&](const Run& run) { return run.x1 - run.x0 > kNoRuling * c.width; });
}

// Whether the outline of a mark stands aslant: lines of print cannot.
bool IsAslant(std::span<const Run> mark, const Component& c) {
  std::vector<cv::Point> outline;
  for (const Run& run : mark) {
    outline.emplace_back(run.x0, run.y);
    outline.emplace_back(run.x1 - 1, run.y);
  }
  const cv::RotatedRect tight = cv::minAreaRect(outline);
  const double slant = std::abs(std::remainder(tight.angle, 90.0));
  return slant > kAslant && c.rect().area() > kLooseBounds * std::max(1.0f, tight.size.area());
}

// Whether a component leaves the middle of its box free.
bool IsFrame(std::span<const Run> runs, const Component& c) {
  const cv::Rect middle(c.x + c.width / 4, c.y + c.height / 4, c.width / 2, c.height / 2);
  int inside = 0;
  for (const Run& run : runs) {
    inside += (cv::Rect(run.x0, run.y, run.x1 - run.x0, 1) & middle).width;
  }
  return inside < kFreeMiddle * c.area;
}

// Makes ink of the words that stand in a frame, however pale, and takes the frame away.
void ShowWords(const Components& components, const Component& frame, double xh, cv::Mat& ink) {
  if (!IsFrame(components.RunsOf(frame), frame)) return;
  std::vector<const Component*> words;
  int letters = 0;
  for (const Component& c : components.items) {
    const bool inside = (c.rect() & frame.rect()) == c.rect();
    if (!inside || c.first_run == frame.first_run) continue;
    words.push_back(&c);
    letters += IsLetter(c, xh);
  }
  if (letters < kFewestLetters) return;
  for (const Component* c : words) components.Paint(*c, 1, ink);
  components.Paint(frame, 0, ink);
}

cv::Rect BoundsOf(const Component& mark, int margin, cv::Size page) {
  const cv::Rect bounds = mark.rect() + cv::Size(2 * margin, 2 * margin);
  return (bounds - cv::Point(margin, margin)) & cv::Rect({0, 0}, page);
}

}  // namespace

std::vector<Box> RemoveFaintMarks(const cv::Mat& flat, double letter_height, cv::Mat& ink) {
  const double xh = letter_height;
  const Components components = FindComponents(flat <= kPalest);
  if (std::none_of(components.items.begin(), components.items.end(),
                   [&](const Component& c) { return IsMark(components, c, xh); })) {
    return {};
  }
  Tones letters;
  for (const Component& c : components.items) {
    if (IsLetter(c, xh)) letters.Add(flat, components.RunsOf(c));
  }
  const int print_tone = letters.Median();
  std::vector<Box> unreadable;
  for (const Component& mark : components.items) {
    if (!IsMark(components, mark, xh)) continue;
    Tones tones;
    tones.Add(flat, components.RunsOf(mark));
    const int mark_tone = tones.Median();
    if (mark_tone < print_tone + kLighter) continue;
    const cv::Rect bounds = BoundsOf(mark, static_cast<int>(kMargin * xh), ink.size());
    const cv::Mat light = flat(bounds) > (mark_tone + print_tone) / 2;
    const int print = bounds.area() - cv::countNonZero(light);
    const bool over_print = print > kLeastPrint * bounds.area();
    if (!over_print && !IsAslant(components.RunsOf(mark), mark)) {
      ShowWords(components, mark, xh, ink);
      continue;
    }
    ink(bounds).setTo(0, light);
    if (!over_print) unreadable.push_back(mark.box());
  }
  return unreadable;
}

}  // namespace platen::layout
