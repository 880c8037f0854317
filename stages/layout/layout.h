// From a page image to typed regions and their text lines, in reading order.
//
// An interface over detectors: the embedded one is classical image processing on OpenCV and knows
// text only. A learned detector of regions (region_detector.h) stands beside it; reading order, the
// lines of text that no region covers, and crops are shared.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/families/region_kind.h"
#include "model/support/image.h"

namespace platen {

struct PointF {
  float x = 0;
  float y = 0;
};

struct BoxF {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

// A square before a line of a form, to be ticked.
enum class CheckBox : uint8_t { kNone, kEmpty, kTicked };

// A text line. Coordinates are pixels of the upright page (see PageLayout::rotation).
struct LayoutLine {
  std::array<PointF, 4> quad;  // top-left, top-right, bottom-right, bottom-left along the line
  BoxF box;                    // upright bounds of the quad
  float baseline = 0;          // distance from the quad's top edge to the baseline; 0: not measured
  float letter_height = 0;     // x-height of this line's letters; 0: like the page's, or too few
  float ascent = 0;            // highest ink above the baseline; 0: not measured
  float descent = 0;           // lowest ink below the baseline
  float weight = 0;            // ink in the boxes of its letters, 0..1; 0: not measured
  bool light_on_dark = false;  // its print is lighter than its ground
  CheckBox check_box = CheckBox::kNone;  // that stands before it, outside the quad
};

// A cell of a table. Rows and columns count from 0.
struct TableCell {
  int row = 0, column = 0;
  int row_span = 1, column_span = 1;
  std::array<PointF, 4> quad;  // its room on the page
  std::vector<int> lines;      // indices into the region's lines, in reading order
};

// Rows of cells. Spans do not overlap and stay within the table; each line is in one cell.
struct TableLayout {
  int rows = 0, columns = 0;
  std::vector<TableCell> cells;  // row by row
};

// Where a region's outline comes from.
enum class RegionSource : uint8_t {
  kLines,     // from its lines: a paragraph the classical detector has put together
  kDetector,  // a detector has drawn it
};

// A typed part of the page, in pixels of the upright page.
struct LayoutRegion {
  RegionKind kind = RegionKind::kText;
  RegionSource source = RegionSource::kLines;
  std::string native_label;       // what the detector calls it; empty: it knows our kinds
  std::array<PointF, 4> quad;     // outline: top-left, top-right, bottom-right, bottom-left
  BoxF box;                       // upright bounds
  float score = 1;                // the detector's confidence, 0..1
  bool read = true;               // false: it is kept in the results, without text
  std::vector<LayoutLine> lines;  // in reading order; none: only the region as a whole can be read
  // How the lines stand: of a table, or, of a region of text, of a form whose labels and values
  // belong together.
  std::optional<TableLayout> table;
};

struct PageLayout {
  int rotation = 0;        // degrees the page must be turned clockwise to be upright: 0 90 180 270
  float skew_degrees = 0;  // of the upright page
  float letter_height =
      0;  // x-height of the page's ruling text size, page pixels; 0: no text found
  std::vector<LayoutRegion> regions;  // in reading order
  std::vector<std::string> warnings;  // what the page's readers should know

  // Whether lines with letters were found.
  bool HasLetters() const;
};

class LayoutDetector {
 public:
  virtual ~LayoutDetector() = default;
  // `page` may be any size; no text gives no regions, noise in which no letters can be told gives
  // one region with one "line" around the page. Thread-safe.
  virtual PageLayout Detect(const Image& page) const = 0;
  // Whether one page keeps all threads busy and needs much memory: then pages had better come one
  // after the other.
  virtual bool WantsPagesInTurn() const { return false; }
};

std::unique_ptr<LayoutDetector> MakeClassicalDetector();

// Tells OpenCV to start no threads of its own. Global: the program calls it once, before the first
// page; without it results are the same, but OpenCV runs threads beside the program's pool.
void KeepOpenCvSingleThreaded();

// The page turned clockwise by 0, 90, 180 or 270 degrees.
Image RotatePage(const Image& page, int degrees_clockwise);

// The layout of `page`, which is turned upright.
PageLayout DetectUpright(const LayoutDetector& detector, Image& page);

}  // namespace platen
