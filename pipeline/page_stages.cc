#include "pipeline/page_stages.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/engine/random_stream.h"
#include "model/support/attempt.h"
#include "model/support/clock.h"
#include "model/support/display_text.h"
#include "stages/crop_request.h"
#include "stages/doubts.h"
#include "stages/layout/ink.h"
#include "stages/layout/scale_image.h"
#include "stages/page_pictures.h"

namespace platen {
namespace {

std::string PageLabel(const PageSlot& page) {
  return DisplayName(page.job.document->name) + " p" + std::to_string(page.job.page);
}

// Where letters were found there is ink: only pages without any are searched for it.
bool HasInkOrLetters(const Image& image, const PageLayout& layout) {
  return layout.HasLetters() || HasInk(image);
}

bool InReadingOrder(const CropReading& a, const CropReading& b) {
  return std::pair{a.origin.region, a.origin.line} < std::pair{b.origin.region, b.origin.line};
}

// A page of which the clock or the caller has stopped a part has no text: what it would be depends
// on the moment.
void GiveUpIfOver(PageSlot& page) {
  for (const PageCrop& crop : page.crops) {
    if (crop.error.code != FailureCode::kTimeout && crop.error.code != FailureCode::kCancelled) {
      continue;
    }
    page.error = crop.error;
    page.crops.clear();
    page.text.reset();
    return;
  }
}

// Of the page, else of its first part that failed; nothing of the kind: kInternal.
FailureCode CodeOf(const PageSlot& page, const Fault& failure) {
  if (!page.error.empty()) return page.error.code;
  if (!failure.empty()) return failure.code;
  for (const PageCrop& crop : page.crops) {
    if (!crop.error.empty()) return crop.error.code;
  }
  return FailureCode::kInternal;
}

bool MustBeRead(PageSlot& page) {
  if (page.job.page == 0 || !page.error.empty()) return false;
  page.error = WhyOver(page);
  return page.error.empty();
}

}  // namespace

// By what is read, not by when or from where: the same after a resume, in any order and in any
// share of the work.
uint64_t SeedOf(const PageSlot& page, const CropOrigin& origin, uint64_t run_seed) {
  const OpenDocument& document = *page.job.document;
  std::string identity = document.identity.empty() ? document.name : document.identity;
  for (const int part : {page.job.page, origin.region, origin.line, origin.part}) {
    identity += '\n' + std::to_string(part);
  }
  return RequestSeed(run_seed, identity);
}

PageTools ToolsWith(const LayoutDetector& detector) {
  PageTools tools;
  tools.segment = [&detector](Image& page) { return DetectUpright(detector, page); };
  tools.pages_in_turn = detector.WantsPagesInTurn();
  return tools;
}

PageStages::PageStages(PageTools tools, ReadingConfig reading, Recognizer& recognizer,
                       Telemetry& telemetry)
    : tools_(std::move(tools)),
      reading_(std::move(reading)),
      recognizer_(recognizer),
      telemetry_(telemetry) {}

void PageStages::Measure(PageSlot& page) {
  page.began_ns = MonotonicNs();
  page.error = page.job.document->error;
  if (!MustBeRead(page)) return;
  page.error = AttemptWith(FailureCode::kInternal, [&] {
    const ImageSize size = page.job.document->reader->PageSize(page.job.page - 1);
    page.pixels = size.width * size.height;
  });
}

void PageStages::DecodeImage(PageSlot& page) {
  if (!MustBeRead(page)) return;
  const StageSpan span(telemetry_, Stage::kDecodeImage, page.index, PageLabel(page));
  page.error = AttemptWith(FailureCode::kInternal, [&] {
    PageImage read = page.job.document->reader->ReadPage(page.job.page - 1);
    const FilePage in_file = {read.image.width, read.image.height, read.dpi_x, read.dpi_y};
    MakePixelsSquare(read.image, read.dpi_x, read.dpi_y);
    const bool stretched = read.image.width != in_file.width || read.image.height != in_file.height;
    page.geometry.in_file = stretched ? in_file : FilePage();
    page.image = std::move(read.image);
    page.geometry.dpi_x = read.dpi_x;
    page.geometry.dpi_y = read.dpi_y;
    if (!read.warning.empty()) page.warnings.push_back(std::move(read.warning));
    if (page.job.document->read.text_layer != TextLayerUse::kIgnore && !stretched) {
      page.layer = page.job.document->reader->ReadTextLayer(page.job.page - 1);
    }
  });
}

void PageStages::Layout(PageSlot& page) {
  if (!MustBeRead(page)) return;
  const StageSpan span(telemetry_, Stage::kLayout, page.index, PageLabel(page));
  page.error = AttemptWith(FailureCode::kInternal, [&] {
    PageGeometry& geometry = page.geometry;
    geometry.layout = tools_.segment(page.image);
    std::move(geometry.layout.warnings.begin(), geometry.layout.warnings.end(),
              std::back_inserter(page.warnings));
    geometry.width = page.image.width;
    geometry.height = page.image.height;
    if (geometry.layout.rotation % 180 != 0) std::swap(geometry.dpi_x, geometry.dpi_y);
    geometry.has_ink = HasInkOrLetters(page.image, geometry.layout);
    ApplyReadOptions(reading_, page.job.document->read, page.image.width, page.image.height,
                     geometry.layout);
    TakeTextLayer(page);
  });
}

// `page` has its layout.
void PageStages::TakeTextLayer(PageSlot& page) {
  if (!page.layer) return;
  PageLayout& layout = page.geometry.layout;
  const bool on_its_side = layout.rotation % 180 != 0;
  const int width = on_its_side ? page.image.height : page.image.width;
  const int height = on_its_side ? page.image.width : page.image.height;
  const auto words = UprightWords(*page.layer, width, height, layout.rotation);
  PlacedText text = PlaceWords(words, layout);
  const bool use = page.job.document->read.text_layer == TextLayerUse::kUse;
  if (!text.readings.empty() && (use || IsWhole(*page.layer, text))) {
    layout = text.layout;
    page.text = std::move(text);
  }
  page.layer.reset();
}

void PageStages::Preprocess(PageSlot& page) {
  if (!MustBeRead(page)) return;
  const StageSpan span(telemetry_, Stage::kPreprocess, page.index, PageLabel(page));
  KeepShown(page);
  page.error = AttemptWith(FailureCode::kInternal, [&] {
    std::vector<Crop> crops = CropsOf(page);
    CutOut(page);
    page.image = Image();
    page.crops.resize(crops.size());
    for (size_t i = 0; i < crops.size(); ++i) Prepare(page, crops[i], page.crops[i]);
  });
  if (!page.error.empty()) page.crops.clear();
  page.image = Image();
  page.open_crops = page.crops.size();
}

// Of a page whose own text is taken, what has none; nothing, if all that it has is asked for.
std::vector<Crop> PageStages::CropsOf(const PageSlot& page) const {
  const ReadOptions& read = page.job.document->read;
  if (!page.text) return tools_.crop(page.image, page.geometry.layout, reading_, read);
  if (read.text_layer == TextLayerUse::kUse) return {};
  std::vector<Crop> crops = tools_.crop(page.image, WhatIsLeft(*page.text), reading_, read);
  std::erase_if(crops, [&](const Crop& crop) { return IsCovered(*page.text, crop.origin); });
  return crops;
}

// While the pixels are there, and beside other pages: the outputs are written one after another.
void PageStages::KeepShown(const PageSlot& page) {
  const OpenDocument& document = *page.job.document;
  if (!document.shown) return;
  PageResult shown;
  shown.page = page.job.page;
  shown.width = page.geometry.width;
  shown.height = page.geometry.height;
  shown.rotation = page.geometry.layout.rotation;
  shown.in_file = page.geometry.in_file;
  shown.warnings = page.warnings;
  KeepPictures(*document.reader, document.path, shown, &page.image, *document.shown);
}

void PageStages::CutOut(PageSlot& page) {
  if (!page.job.document->read.pictures) return;
  page.pictures = CutPictures(page.image, page.geometry.layout);
  int number = 0;
  for (const Picture& picture : page.pictures) {
    page.geometry.images[picture.region] =
        "p" + std::to_string(page.job.page) + "-" + std::to_string(++number) + ".png";
  }
}

void PageStages::Prepare(PageSlot& page, Crop& crop, PageCrop& prepared) const {
  prepared.page = &page;
  prepared.origin = std::move(crop.origin);
  prepared.error = AttemptWith(FailureCode::kModel, [&] {
    const auto region = static_cast<size_t>(prepared.origin.region);
    RequestOptions request = CropRequest(page.geometry.layout.regions.at(region).kind, reading_,
                                         page.job.document->read);
    request.sampling.seed = SeedOf(page, prepared.origin, request.sampling.seed);
    prepared.sequence = recognizer_.Prepare(crop.image, request);
  });
  if (prepared.sequence) prepared.sequence->crop = &prepared;
  crop.image = Image();
}

CropReading PageStages::ReadingOf(PageCrop& crop) const {
  CropReading reading;
  reading.origin = std::move(crop.origin);
  reading.error = crop.error.text;
  if (!reading.error.empty()) return reading;
  DecodedText decoded = recognizer_.Text(crop.result.tokens);
  reading.text = std::move(decoded.text);
  reading.token_ends = std::move(decoded.token_ends);
  reading.probabilities = std::move(crop.result.probabilities);
  if (crop.result.finish == FinishReason::kLength) {
    reading.warnings.push_back("stopped at the token limit");
  } else if (crop.result.finish == FinishReason::kRepetition) {
    reading.warnings.push_back(crop.first_try
                                   ? "cut: the text repeated itself, also at another scale"
                                   : "cut: the text repeated itself");
  } else if (crop.first_try) {
    reading.warnings.push_back("read at another scale: the text had repeated itself");
  }
  reading.finish = FinishReasonName(crop.result.finish);
  return reading;
}

void PageStages::Assemble(PageSlot& page) {
  if (page.job.page == 0 && page.error.empty()) return;
  const StageSpan span(telemetry_, Stage::kAssemble, page.index, PageLabel(page));
  page.geometry.page = page.job.page;
  GiveUpIfOver(page);
  const Fault failure = AttemptWith(FailureCode::kInternal, [&] {
    std::vector<CropReading> readings;
    for (PageCrop& crop : page.crops) {
      ++page.decoding.crops;
      page.decoding.Add(crop.result);
      if (crop.first_try) page.decoding.Add(*crop.first_try);
      readings.push_back(ReadingOf(crop));
    }
    if (page.text) {
      std::move(page.text->readings.begin(), page.text->readings.end(),
                std::back_inserter(readings));
      std::stable_sort(readings.begin(), readings.end(), InReadingOrder);
    }
    page.result = AssemblePage(page.geometry, readings, reading_);
  });
  page.result.page = page.job.page;
  page.result.warnings = std::move(page.warnings);
  page.result.error = page.error.empty() ? failure.text : page.error.text;
  page.failure_code = CodeOf(page, failure);
  page.result.doubts = FindDoubts(page.result, page.geometry.has_ink, reading_);
  page.crops.clear();
}

}  // namespace platen
