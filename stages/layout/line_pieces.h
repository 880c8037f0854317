// A line as a strip of pixels: where its words end, and pieces of it with paper around.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

namespace platen::layout {

// A stretch of columns of a strip: [start, end).
struct Piece {
  int start = 0, end = 0;
};

// How a strip shows its line, in pixels of the strip.
struct StripGeometry {
  double x_height = 0;
  double baseline = 0;  // from the top
};

// Grey values of paper and ink of a strip.
struct Tones {
  cv::Vec3b paper;
  int paper_grey = 255;
  int ink_grey = 0;
};
Tones MeasureTones(const cv::Mat& strip);

// Paints with paper what belongs to other lines, and rulings: ink that enters from below or above
// and does not hang on the line's letters. `ascent`: highest ink of the line above its baseline.
void EraseForeignInk(const Tones& tones, const StripGeometry& geometry, double ascent,
                     cv::Mat& strip);

// Cuts [text.start, text.end) into as few pieces of at most `max_width` as the word gaps allow:
// through wide gaps, into pieces of about the same width. Only a "word" wider than that is cut
// itself. max_width >= 16. `strip` 8-bit RGB.
std::vector<Piece> CutAtWordGaps(const cv::Mat& strip, const Tones& tones,
                                 const StripGeometry& geometry, Piece text, int max_width);

// White gaps of the text that may part words, from the left: those at least half as wide as a word
// gap.
std::vector<Piece> WordGaps(const cv::Mat& strip, const Tones& tones, const StripGeometry& geometry,
                            Piece text);

// The piece in the middle of a crop `width` wide. Beside it stands what the strip has there, up to
// `reach` pixels and to the first column with ink (a ruling, a neighbour); beyond that, paper.
cv::Mat CropPiece(const cv::Mat& strip, const Tones& tones, Piece piece, int reach, int width);

}  // namespace platen::layout
