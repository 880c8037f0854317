// From a page image to text lines in reading order.
//
// An interface over detectors: the embedded one is classical image processing on OpenCV; a neural
// detector can be added beside it and shares reading order and crops.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "model/families/reading_config.h"
#include "model/support/image.h"

namespace platen {

struct PointF {
  float x = 0;
  float y = 0;
};

struct BoxF {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

// A text line. Coordinates are pixels of the upright page (see PageLayout::rotation).
struct LayoutLine {
  std::array<PointF, 4> quad;  // top-left, top-right, bottom-right, bottom-left along the line
  BoxF box;                    // upright bounds of the quad
  int block = 0;               // lines of one paragraph share a number, ascending in reading order
  float baseline = 0;          // distance from the quad's top edge to the baseline; 0: not measured
  float letter_height = 0;     // x-height of this line's letters; 0: like the page's, or too few
  float ascent = 0;            // highest ink above the baseline; 0: not measured
  float descent = 0;           // lowest ink below the baseline
};

struct PageLayout {
  int rotation = 0;        // degrees the page must be turned clockwise to be upright: 0 90 180 270
  float skew_degrees = 0;  // of the upright page
  float letter_height =
      0;  // x-height of the page's ruling text size, page pixels; 0: no text found
  std::vector<LayoutLine> lines;  // in reading order
};

class LayoutDetector {
 public:
  virtual ~LayoutDetector() = default;
  // `page` may be any size; no text gives no lines, noise in which no letters can be told gives one
  // "line" around the page. Thread-safe.
  virtual PageLayout Detect(const Image& page) const = 0;
};

std::unique_ptr<LayoutDetector> MakeClassicalDetector();

// Tells OpenCV to start no threads of its own. Global: the program calls it once, before the first
// page; without it results are the same, but OpenCV runs threads beside the program's pool.
void KeepOpenCvSingleThreaded();

// The page turned clockwise by 0, 90, 180 or 270 degrees.
Image RotatePage(const Image& page, int degrees_clockwise);

// A crop the model reads on its own.
struct Crop {
  Image image;
  std::array<PointF, 4> quad;  // on the upright page
  int line = 0;                // index into PageLayout::lines (first line, for blocks)
  int part = 0;                // 0, 1, ... for the pieces of a line that was cut at word gaps
};

// Crops of one page (already upright) at the granularity and geometry the model was trained for:
// lines are scaled by the page's letter height and baseline, not by each line's ink; lines wider
// than max_width are cut at word gaps. A page whose letters could not be measured gives no line
// crops. `text_height`: if > 0, block and page crops are scaled down so that small letters are this
// high (never up).
std::vector<Crop> MakeCrops(const Image& page, const PageLayout& layout,
                            const ReadingConfig& reading, double text_height);

}  // namespace platen
