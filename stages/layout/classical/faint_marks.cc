#include "stages/layout/classical/faint_marks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace platen::layout {
namespace {

// In letter heights unless said otherwise.
constexpr double kLeastWidth = 6, kLeastHeight = 3;  // of a mark
constexpr double kMostWidth = 48, kMostHeight = 30;
constexpr double kMostInk = 0.25;  // share of its bounds: it is made of strokes
constexpr double kLowestLetter = 0.62, kHighestLetter = 2.9;
constexpr int kLighter = 45;  // grey levels, medians of the mark and of letters
constexpr double kMargin = 0.5;
// Share of the bounds that is as dark as letters: a mark on white paper stays, it can be read.
constexpr double kLeastPrint = 0.02;

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

bool IsMark(const Component& c, double xh) {
  return c.width > kLeastWidth * xh && c.width < kMostWidth * xh && c.height > kLeastHeight * xh &&
         c.height < kMostHeight * xh && c.area < kMostInk * c.width * static_cast<double>(c.height);
}

}  // namespace

bool MayHaveFaintMarks(const std::vector<Component>& components, double letter_height) {
  return std::any_of(components.begin(), components.end(),
                     [&](const Component& c) { return IsMark(c, letter_height); });
}

void RemoveFaintMarks(const cv::Mat& flat, const Components& components, double letter_height,
                      cv::Mat& ink) {
  const double xh = letter_height;
  Tones letters;
  for (const Component& c : components.items) {
    if (IsLetter(c, xh)) letters.Add(flat, components.RunsOf(c));
  }
  const int print_tone = letters.Median();
  const int margin = static_cast<int>(kMargin * xh);
  for (const Component& mark : components.items) {
    if (!IsMark(mark, xh)) continue;
    Tones tones;
    tones.Add(flat, components.RunsOf(mark));
    const int mark_tone = tones.Median();
    if (mark_tone < print_tone + kLighter) continue;
    const int darkest = (mark_tone + print_tone) / 2;
    const cv::Rect bounds = cv::Rect(mark.x - margin, mark.y - margin, mark.width + 2 * margin,
                                     mark.height + 2 * margin) &
                            cv::Rect({0, 0}, ink.size());
    const cv::Mat light = flat(bounds) > darkest;
    const int print = bounds.area() - cv::countNonZero(light);
    if (print > kLeastPrint * bounds.area()) ink(bounds).setTo(0, light);
  }
}

}  // namespace platen::layout
