// What was read of a document. Text is UTF-8. Coordinates are pixels of the upright page: x to the
// right, y down.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "platen/export.h"

namespace platen {

struct Point {
  double x = 0, y = 0;
};

// Top-left, top-right, bottom-right, bottom-left, along the text.
using Quad = std::array<Point, 4>;

// A word of a line. Its place is estimated from the white gaps of the line and usual widths of
// letters; the model gives text, not places.
struct Word {
  std::string text;
  Quad quad = {};
  double confidence = 0;  // least probability of its tokens; 1 of a PDF's own text
};

struct Line {
  std::string text;
  Quad quad = {};
  std::array<Point, 2> baseline = {};  // its ends; both the same point: not measured
  int tokens = 0;                      // generated; 0: the two below mean nothing
  double mean_confidence = 0;          // probability the model gave its tokens
  double min_confidence = 0;
  std::vector<Word> words;
  std::string error;  // empty: read; else why not
};

// A typed part of the page, in reading order. Read line by line, it has lines; read as a whole, or
// not at all (a figure), it has none.
struct Region {
  std::string kind;    // "text", "table", "figure", ...: docs/SNAPSHOTS.md lists them
  std::string syntax;  // of the text: "plain", "markdown", "html", "latex"
  Quad quad = {};
  double score = 1;  // of the layout detector, 0..1
  std::string text;
  int tokens = 0;
  double mean_confidence = 0;
  double min_confidence = 0;
  std::vector<Line> lines;
  std::string error;  // empty: all of it was read
};

// Why a page that was read may not hold what stands on it.
struct Remark {
  std::string code;  // "no_text", "low_confidence", "foreign_script"
  std::string text;  // a sentence with the figures
};

struct Page {
  int number = 0;               // 1-based in its document
  int width = 0, height = 0;    // pixels; 0: never decoded
  double dpi_x = 0, dpi_y = 0;  // 0: the input does not say
  int rotation = 0;             // degrees the page was turned clockwise to be upright
  double skew_degrees = 0;      // of the upright page
  std::vector<Region> regions;
  std::vector<std::string> warnings;
  // Text is the PDF's own, not read: lines of it have no tokens, and words stand where it says.
  bool from_text_layer = false;
  std::vector<Remark> doubts;  // empty: nothing speaks against what was read
  std::string error;           // empty: the page was read; else why not
};

enum class Format { kText, kMarkdown, kJson };

// A value; copies share their pages. Const members may be called by several threads at once.
class PLATEN_API Document {
 public:
  Document();  // without pages

  // In order. A page that could not be read is there, with its error.
  const std::vector<Page>& pages() const;

  // The bytes of the output file that `platen ocr` writes in this format.
  std::string As(Format format) const;

 private:
  friend struct DocumentBuilder;
  struct Data;
  std::shared_ptr<const Data> data_;
};

}  // namespace platen
