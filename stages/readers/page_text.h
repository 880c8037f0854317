// The text that a page of a PDF has beside what it shows.
#pragma once

#include <string>
#include <vector>

namespace platen {

// A word without white space or control characters. Its box is in pixels of the page's image, as
// DocumentReader::ReadPage gives it; it may be empty, and lie beyond the image.
struct LayerWord {
  std::string text;  // UTF-8, never empty
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  int line = 0;   // of the layer: words that follow each other on one line have the same number
  int block = 0;  // likewise: lines of one paragraph
};

struct PageText {
  std::vector<LayerWord> words;  // in the layer's order
  bool over_picture = false;     // a picture covers the page: it is a scan, and the text was added
};

}  // namespace platen
