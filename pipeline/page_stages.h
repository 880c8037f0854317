// The stages that work on one page by itself: decode_image, layout, preprocess, assemble.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/messages.h"
#include "pipeline/recognizer.h"
#include "pipeline/telemetry.h"
#include "stages/layout/crops.h"

namespace platen {

// How pages become crops. Called by many threads at once.
struct PageTools {
  // Finds regions and lines; turns the image upright if the layout says so.
  std::function<PageLayout(Image& page)> segment;
  std::function<std::vector<Crop>(const Image& page, const PageLayout& layout,
                                  const ReadingConfig& reading, const ReadOptions& options)>
      crop = MakeCrops;
  bool pages_in_turn = false;  // one page at a time is segmented, on all threads
};

// The tools of a run: `detector`, which outlives them, and MakeCrops.
PageTools ToolsWith(const LayoutDetector& detector);

// Every member may be called by many threads at once, on different slots. None throws for what is
// wrong with a page: the reason becomes the page's (or crop's) error, and later stages pass such
// pages on.
class PageStages {
 public:
  // `reading`: what the model was trained to read.
  PageStages(PageTools tools, ReadingConfig reading, Recognizer& recognizer, Telemetry& telemetry);

  // How many pixels the page will take, from its header.
  void Measure(PageSlot& page);
  void DecodeImage(PageSlot& page);
  void Layout(PageSlot& page);
  // Crops, resizes them to patch grids, makes the prompts; keeps pictures for the outputs that show
  // the page; frees its pixels. A disk that is full throws Error(kEnvironment).
  void Preprocess(PageSlot& page);
  void Assemble(PageSlot& page);

 private:
  static void TakeTextLayer(PageSlot& page);
  std::vector<Crop> CropsOf(const PageSlot& page) const;
  static void CutOut(PageSlot& page);
  static void KeepShown(const PageSlot& page);
  void Prepare(PageSlot& page, Crop& crop, PageCrop& prepared) const;
  CropReading ReadingOf(PageCrop& crop) const;

  PageTools tools_;
  ReadingConfig reading_;
  Recognizer& recognizer_;
  Telemetry& telemetry_;
};

}  // namespace platen
