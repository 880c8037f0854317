#include "stages/page_reader.h"

#include <utility>

#include "model/support/error.h"
#include "stages/formats/text_writer.h"

namespace platen {
namespace {

EngineOptions MakeEngineOptions(const PageReaderOptions& options) {
  EngineOptions engine;
  engine.kv_cache_bytes = options.kv_cache_bytes;
  return engine;
}

}  // namespace

PageReader::PageReader(const Model& model, PageReaderOptions options)
    : model_(model),
      options_(std::move(options)),
      vision_(RequireVision(model)),
      session_(model, {.engine = MakeEngineOptions(options_)}) {}

PageReading PageReader::Read(const Image& page, const PageLayout& layout) {
  PageReading reading;
  std::vector<Crop> crops = MakeCrops(page, layout, options_.reading, options_.text_height);
  const RequestOptions request = {.task_text = options_.reading.prompts.at(options_.task),
                                  .max_new_tokens = options_.max_new_tokens};
  reading.regions.resize(crops.size());
  std::vector<Request> requests;
  std::vector<size_t> regions;  // of the requests
  for (size_t i = 0; i < crops.size(); ++i) {
    reading.regions[i].origin = {crops[i].quad, crops[i].line, crops[i].part};
    try {
      requests.push_back(MakeRequest(vision_, crops[i].image, request));
      regions.push_back(i);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kInput) throw;
      reading.regions[i].error = e.what();
    }
    crops[i].image = Image();
  }
  std::vector<Session::Result> results = session_.Run(std::move(requests));
  for (size_t i = 0; i < results.size(); ++i) {
    reading.regions[regions[i]].sequence = std::move(results[i].sequence);
    reading.regions[regions[i]].error = std::move(results[i].error);
  }
  reading.text = TextOf(layout, reading.regions);
  return reading;
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
