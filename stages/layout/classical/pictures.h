// Where a page shows pictures, and which "lines" are made of their texture.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "stages/layout/classical/phrases.h"

namespace platen::layout {

// The share of a line's letters that begin and end at the line's common heights, as print does:
// near 1 for print, about 0.5 for texture. 1 for a line of few letters, of which nothing can be
// said.
double Regularity(const Phrase& line);

// What is drawn, not written.
struct Pictures {
  cv::Mat cells;           // 8-bit, 1 where a picture is
  double cell = 1;         // pixels
  std::vector<Box> boxes;  // around each of them, in pixels
  std::vector<Box> toned;  // around those that are tone, not strokes

  // The share of a box that lies in pictures.
  double Cover(const Box& box) const;
};

// What has been found on a page so far.
struct FoundParts {
  const std::vector<Phrase>& lines;
  const std::vector<Box>& photographs;
  const std::vector<Box>& hatched;
};

// The photographs, hatched areas, areas of continuous tone, and areas whose ink is mostly not that
// of regular lines. `ink` (1 is ink) of a straight page, `cells`: CellMeans of its tones.
Pictures FindPictures(const cv::Mat& cells, const cv::Mat& ink, const FoundParts& found,
                      double letter_height);

// Leaves out lines that are a picture's texture.
std::vector<Phrase> DropTexture(const Pictures& pictures, const std::vector<Phrase>& lines);

}  // namespace platen::layout
