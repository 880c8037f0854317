#include "stages/layout/classical/broken_strokes.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace platen::layout {
namespace {

// Fragments: smaller than any letters one prints in quantity (pixels at working size, before small
// letters are enlarged), and mostly in "lines" of one or two pieces.
constexpr double kFragmentHeight = 9;
constexpr size_t kFewestLines = 20;
constexpr double kShareOfScraps = 0.38;
// Gaps up to this share of the fragments' height are closed.
constexpr double kGap = 0.8;
// Worth it if at most this share of the lines is left, and the letters are this much higher.
constexpr double kFewerLines = 0.8;
constexpr double kHigherLetters = 1.5;

bool LooksBroken(const FoundPage& found) {
  const double base_scale = std::min(1.0, found.page.scale);
  if (found.page.letter_height / found.page.scale * base_scale >= kFragmentHeight) return false;
  const auto& lines = found.lines.lines;
  if (lines.size() < kFewestLines) return false;
  const auto scraps = std::count_if(lines.begin(), lines.end(),
                                    [](const Phrase& line) { return line.letters.size() <= 2; });
  return static_cast<double>(scraps) > kShareOfScraps * static_cast<double>(lines.size());
}

}  // namespace

void MendBrokenStrokes(const cv::Mat& grey, FoundPage& found) {
  if (!LooksBroken(found)) return;
  const double fragment = found.page.letter_height / found.page.scale;
  const int gap = std::max(3, static_cast<int>(kGap * fragment) | 1);
  cv::Mat mended;  // ink is dark: opening the grey values closes the strokes
  cv::morphologyEx(grey, mended, cv::MORPH_OPEN,
                   cv::getStructuringElement(cv::MORPH_ELLIPSE, cv::Size(gap, gap)));
  std::optional<WorkingPage> page = PrepareWorkingPage(mended);
  if (!page || page->letter_height / page->scale < kHigherLetters * fragment) return;
  PageLines lines = FindLines(*page);
  if (lines.noise) return;
  const auto most = kFewerLines * static_cast<double>(found.lines.lines.size());
  if (static_cast<double>(lines.lines.size()) > most) return;
  found = {std::move(*page), std::move(lines)};
}

}  // namespace platen::layout
