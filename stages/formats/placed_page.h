// A page result as formats show it that lie beside an image: in whole pixels of the image as the
// file holds it, with every line's text as words.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stages/formats/page_result.h"

namespace platen {

// Of the image, not of the upright page: x to the right, y down, 0 and the width or height
// included.
struct Pixel {
  int x = 0;
  int y = 0;

  bool operator==(const Pixel&) const = default;
};

// "x,y x,y …", as SVG, ALTO and PAGE want it.
std::string PointsText(std::span<const Pixel> points);

struct PixelBox {
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;

  int width() const { return x1 - x0; }
  int height() const { return y1 - y0; }
};

// Where something stands. The quad runs along the text, as in the page result.
struct Place {
  PixelBox box;  // of the quad; at least a pixel wide and high where the page is
  std::array<Pixel, 4> quad = {};
  bool slanted = false;  // the quad is not the box
};

struct PlacedWord {
  std::string text;  // never empty
  Place place;
  double confidence = 0;  // 0..1
};

struct PlacedLine {
  std::string text;
  Place place;
  std::optional<std::array<ResultPoint, 2>> baseline;  // left to right as read; absent: unmeasured
  int text_angle = 0;     // degrees the text is turned counter-clockwise in the image: 0 90 180 270
  double confidence = 0;  // mean of its tokens, 0..1
  std::vector<PlacedWord> words;  // in reading order; empty: it has no text
  std::string error;
};

struct PlacedCell {
  int row = 0, column = 0;
  int row_span = 1, column_span = 1;
  Place place;
  std::vector<PlacedLine> lines;
};

struct PlacedRegion {
  RegionKind kind = RegionKind::kText;
  Place place;
  std::string text;               // with a line break behind each line
  double confidence = 0;          // mean of its tokens, 0..1
  std::vector<PlacedLine> lines;  // but for those in cells
  int rows = 0, columns = 0;      // 0: no table
  std::vector<PlacedCell> cells;
  std::string error;

  // All of them, those of cells too, in reading order.
  std::vector<const PlacedLine*> AllLines() const;
};

struct PlacedPage {
  int page = 0;  // as in the page result
  int width = 0, height = 0;
  double dpi_x = 0, dpi_y = 0;
  int rotation = 0;  // degrees the image must be turned clockwise to be upright: 0 90 180 270
  std::optional<double> confidence;  // mean of all tokens; absent: there are none
  std::vector<PlacedRegion> regions;
  std::string error;
  std::string doubts;  // joined by "; "
};

// Any numbers may stand in `page`: what is beyond the page, or no number, is moved to its edge.
//
// Words are those of the line; text beside them (a check box) is a word of its own, and a line
// without words is one word. A region read as a whole has a line for each line of its text (of
// HTML the text alone), which share its height. Pure.
PlacedPage PlaceOnImage(const PageResult& page);

}  // namespace platen
