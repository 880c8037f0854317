#include "stages/page_reader.h"

#include <utility>

#include "model/support/error.h"
#include "stages/crop_request.h"
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

PageReading PageReader::Read(const Image& page, PageLayout layout) {
  const ReadingConfig& config = model_.snapshot().reading;
  ApplyReadOptions(config, options_.read, page.width, page.height, layout);
  PageReading reading;
  std::vector<Crop> crops = MakeCrops(page, layout, config, options_.read);
  reading.crops.resize(crops.size());
  std::vector<Request> requests;
  std::vector<size_t> requested;  // crops of the requests
  for (size_t i = 0; i < crops.size(); ++i) {
    const RegionKind kind = layout.regions[static_cast<size_t>(crops[i].origin.region)].kind;
    reading.crops[i].origin = std::move(crops[i].origin);
    try {
      requests.push_back(
          MakeRequest(vision_, crops[i].image, CropRequest(kind, config, options_.read)));
      requested.push_back(i);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kInput) throw;
      reading.crops[i].error = e.what();
    }
    crops[i].image = Image();
  }
  std::vector<Session::Result> results = session_.Run(std::move(requests));
  for (size_t i = 0; i < results.size(); ++i) {
    reading.crops[requested[i]].sequence = std::move(results[i].sequence);
    reading.crops[requested[i]].error = std::move(results[i].error);
  }
  reading.text = TextOf(std::move(layout), reading.crops);
  return reading;
}

std::string PageReader::TextOf(PageLayout layout, const std::vector<CropOutcome>& crops) const {
  PageGeometry geometry;
  geometry.page = 1;
  geometry.layout = std::move(layout);
  std::vector<CropReading> readings;
  for (const CropOutcome& crop : crops) {
    CropReading reading;
    reading.origin = crop.origin;
    reading.error = crop.error;
    if (crop.sequence) {
      reading.text = DecodeTokens(model_.tokenizer(), crop.sequence->result.tokens).text;
    }
    readings.push_back(std::move(reading));
  }
  TextWriter writer;
  return writer.Page(AssemblePage(geometry, readings, model_.snapshot().reading));
}

}  // namespace platen
