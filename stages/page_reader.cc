#include "stages/page_reader.h"

#include <utility>

#include "model/support/error.h"
#include "stages/formats/text_writer.h"

namespace platen {
namespace {

constexpr int kPatchBudget = 8800;  // encoded and prefilled together

EngineOptions MakeEngineOptions(const PageReaderOptions& options) {
  EngineOptions engine;
  engine.kv_cache_bytes = options.kv_cache_bytes;
  return engine;
}

int Patches(const Sequence& sequence) { return sequence.request.images.front().grid.num_patches(); }

}  // namespace

PageReader::PageReader(const Model& model, PageReaderOptions options)
    : model_(model),
      options_(std::move(options)),
      vision_(RequireVision(model)),
      engine_(model, MakeEngineOptions(options_)) {}

PageReading PageReader::Read(const Image& page, const PageLayout& layout) {
  PageReading reading;
  std::vector<Crop> crops = MakeCrops(page, layout, options_.reading, options_.text_height);
  reading.regions.resize(crops.size());
  for (size_t i = 0; i < crops.size(); ++i) Prepare(crops[i], reading.regions[i]);
  Recognise(reading.regions);
  reading.text = TextOf(layout, reading.regions);
  return reading;
}

void PageReader::Prepare(Crop& crop, RegionReading& region) const {
  region.origin = {crop.quad, crop.line, crop.part};
  try {
    Request request;
    request.images.push_back(vision_.Prepare(crop.image));
    request.task_text = options_.reading.prompts.at(options_.task);
    request.max_new_tokens = options_.max_new_tokens;
    region.sequence = engine_.Prepare(std::move(request));
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    region.error = e.what();
  }
  crop.image = Image();
}

std::vector<RegionReading*> PageReader::TakeBatch(std::vector<RegionReading>& regions,
                                                  size_t& next) {
  std::vector<RegionReading*> batch;
  int patches = 0;
  for (; next < regions.size(); ++next) {
    RegionReading& region = regions[next];
    if (!region.sequence) continue;
    const int more = Patches(*region.sequence);
    if (!batch.empty() && more > kPatchBudget - patches) break;
    if (!engine_.TryReserve(*region.sequence)) break;  // until others have finished
    patches += more;
    batch.push_back(&region);
  }
  return batch;
}

void PageReader::Recognise(std::vector<RegionReading>& regions) {
  size_t next = 0;
  while (next < regions.size() || engine_.live() > 0) {
    std::vector<Sequence*> batch;
    for (RegionReading* region : TakeBatch(regions, next)) {
      region->sequence->user = region;
      batch.push_back(region->sequence.get());
    }
    if (!batch.empty()) {
      engine_.EncodeImages(batch);
      engine_.Prefill(batch);
    }
    for (Sequence* sequence : batch) {
      engine_.Submit(std::move(static_cast<RegionReading*>(sequence->user)->sequence));
    }
    for (std::unique_ptr<Sequence>& sequence : engine_.Step()) {
      RegionReading& region = *static_cast<RegionReading*>(sequence->user);
      region.error = sequence->result.error;
      if (region.error.empty()) region.sequence = std::move(sequence);
    }
  }
}

std::string PageReader::TextOf(const PageLayout& layout,
                               const std::vector<RegionReading>& regions) const {
  PageGeometry geometry;
  geometry.page = 1;
  geometry.layout = layout;
  std::vector<CropReading> readings;
  for (const RegionReading& region : regions) {
    CropReading reading;
    reading.origin = region.origin;
    reading.error = region.error;
    if (region.sequence) {
      reading.text = model_.tokenizer().Decode(region.sequence->result.tokens, true);
    }
    readings.push_back(std::move(reading));
  }
  TextWriter writer;
  return writer.Page(AssemblePage(geometry, readings, options_.reading.granularity, options_.task));
}

}  // namespace platen
