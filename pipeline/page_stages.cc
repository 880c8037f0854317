#include "pipeline/page_stages.h"

#include <utility>

#include "model/support/display_text.h"
#include "pipeline/attempt.h"
#include "stages/doubts.h"
#include "stages/layout/ink.h"

namespace platen {
namespace {

std::string PageLabel(const PageSlot& page) {
  return DisplayName(page.job.document->input.shown_name()) + " p" + std::to_string(page.job.page);
}

// Where letters were found there is ink: only pages without any are searched for it.
bool HasInkOrLetters(const Image& image, const PageLayout& layout) {
  const bool has_letters = !layout.lines.empty() && layout.letter_height > 0;
  return has_letters || HasInk(image);
}

bool MustBeRead(const PageSlot& page) { return page.job.page > 0 && page.error.empty(); }

}  // namespace

PageStages::PageStages(PageTools tools, PageStageOptions options, Recognizer& recognizer,
                       Telemetry& telemetry)
    : tools_(std::move(tools)),
      options_(std::move(options)),
      recognizer_(recognizer),
      telemetry_(telemetry) {}

void PageStages::Measure(PageSlot& page) {
  page.error = page.job.document->error;
  if (!MustBeRead(page)) return;
  page.error = Attempt([&] {
    const ImageSize size = page.job.document->reader->PageSize(page.job.page - 1);
    page.pixels = size.width * size.height;
  });
}

void PageStages::DecodeImage(PageSlot& page) {
  if (!MustBeRead(page)) return;
  const StageSpan span(telemetry_, Stage::kDecodeImage, page.index, PageLabel(page));
  page.error = Attempt([&] {
    PageImage read = page.job.document->reader->ReadPage(page.job.page - 1);
    page.image = std::move(read.image);
    if (!read.warning.empty()) page.warnings.push_back(std::move(read.warning));
  });
}

void PageStages::Layout(PageSlot& page) {
  if (!MustBeRead(page)) return;
  const StageSpan span(telemetry_, Stage::kLayout, page.index, PageLabel(page));
  page.error = Attempt([&] {
    page.geometry.layout = tools_.segment(page.image);
    page.geometry.has_ink = HasInkOrLetters(page.image, page.geometry.layout);
  });
  page.geometry.width = page.image.width;
  page.geometry.height = page.image.height;
}

void PageStages::Preprocess(PageSlot& page) {
  if (!MustBeRead(page)) return;
  const StageSpan span(telemetry_, Stage::kPreprocess, page.index, PageLabel(page));
  page.error = Attempt([&] {
    std::vector<Crop> crops = tools_.crop(page.image, page.geometry.layout);
    page.image = Image();
    page.regions.resize(crops.size());
    for (size_t i = 0; i < crops.size(); ++i) PrepareRegion(page, crops[i], page.regions[i]);
  });
  if (!page.error.empty()) page.regions.clear();
  page.image = Image();
  page.open_regions = page.regions.size();
}

void PageStages::PrepareRegion(PageSlot& page, Crop& crop, Region& region) const {
  region.page = &page;
  region.origin = {crop.quad, crop.line, crop.part};
  region.error = Attempt([&] { region.reading = recognizer_.Prepare(crop.image); });
  if (region.reading) region.reading->region = &region;
  crop.image = Image();
}

CropReading PageStages::ReadingOf(Region& region) const {
  CropReading reading;
  reading.origin = region.origin;
  reading.error = region.error;
  if (!reading.error.empty()) return reading;
  reading.text = recognizer_.Text(region.recognition.tokens);
  reading.probabilities = std::move(region.recognition.probabilities);
  if (region.recognition.finish == FinishReason::kLength) {
    reading.warnings.push_back("stopped at the token limit");
  } else if (region.recognition.finish == FinishReason::kRepetition) {
    reading.warnings.push_back("stopped: the text repeated itself");
  }
  return reading;
}

void PageStages::Assemble(PageSlot& page) {
  if (page.job.page == 0 && page.error.empty()) return;
  const StageSpan span(telemetry_, Stage::kAssemble, page.index, PageLabel(page));
  page.geometry.page = page.job.page;
  const std::string failure = Attempt([&] {
    std::vector<CropReading> readings;
    for (Region& region : page.regions) readings.push_back(ReadingOf(region));
    page.result = AssemblePage(page.geometry, readings, options_.granularity, options_.label);
  });
  page.regions.clear();
  page.result.page = page.job.page;
  page.result.warnings = std::move(page.warnings);
  page.result.error = page.error.empty() ? failure : page.error;
  page.result.doubts = FindDoubts(page.result, page.geometry.has_ink, options_.scripts);
}

}  // namespace platen
