// Baseline and letter height of text lines, for crops that show every line at one scale.
#pragma once

#include <vector>

#include "stages/layout/classical/phrases.h"
#include "stages/layout/classical/quads.h"

namespace platen::layout {

// Working pixels; heights along the page at the middle of the line, its slope taken away.
struct LineMetrics {
  double baseline = 0;       // where letters without descender end
  double letter_height = 0;  // x-height; 0: like the page's, or too few letters to tell
  double ascent = 0;         // highest ink above the baseline
  double descent = 0;        // lowest ink below the baseline
};

// The lines of a page, with `slopes` as BaselineSlope returns them, one for each line.
class PageMetrics {
 public:
  // `letter_height` as layout::LetterHeight returns it: on pages of capitals or digits it is their
  // height.
  PageMetrics(const std::vector<Phrase>& lines, const std::vector<double>& slopes,
              double letter_height);

  // Height of letters without ascender on this page, also where it shows capitals or digits only.
  double x_height() const { return x_height_; }

  LineMetrics Measure(const Phrase& line, double slope) const;

 private:
  double letter_height_;
  double x_height_;
};

}  // namespace platen::layout
