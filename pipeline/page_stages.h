// The stages that work on one page by itself: decode_image, layout, preprocess, assemble.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/messages.h"
#include "pipeline/recognizer.h"
#include "pipeline/telemetry.h"
#include "stages/layout/layout.h"

namespace platen {

// How pages become crops. Called by many threads at once.
struct PageTools {
  // Finds the lines; turns the image upright if the layout says so.
  std::function<PageLayout(Image& page)> segment;
  std::function<std::vector<Crop>(const Image& page, const PageLayout& layout)> crop;
};

struct PageStageOptions {
  ReadingConfig::Granularity granularity = ReadingConfig::Granularity::kLine;
  std::string label = "text";             // of the regions in the results
  std::vector<std::string> scripts = {};  // the model was trained on; empty: not stated
};

// Every member may be called by many threads at once, on different slots. None throws for what is
// wrong with a page: the reason becomes the page's (or region's) error, and later stages pass such
// pages on.
class PageStages {
 public:
  PageStages(PageTools tools, PageStageOptions options, Recognizer& recognizer,
             Telemetry& telemetry);

  // How many pixels the page will take, from its header.
  void Measure(PageSlot& page);
  void DecodeImage(PageSlot& page);
  void Layout(PageSlot& page);
  // Crops, resizes them to patch grids, makes the prompts; frees the page's pixels.
  void Preprocess(PageSlot& page);
  void Assemble(PageSlot& page);

 private:
  void PrepareRegion(PageSlot& page, Crop& crop, Region& region) const;
  CropReading ReadingOf(Region& region) const;

  PageTools tools_;
  PageStageOptions options_;
  Recognizer& recognizer_;
  Telemetry& telemetry_;
};

}  // namespace platen
