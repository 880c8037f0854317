#include "stages/layout/read_options.h"

#include <utility>

#include "model/support/error.h"

namespace platen {
namespace {

RegionKind KindOfTask(const std::string& task) {
  const std::optional<RegionKind> kind = FindRegionKind(task);
  if (!kind) throw Error(ErrorKind::kUsage, {"", "task"}, "unknown task \"" + task + "\"");
  return *kind;
}

LayoutRegion WholePage(int width, int height) {
  const auto w = static_cast<float>(width), h = static_cast<float>(height);
  LayoutRegion region;
  region.source = RegionSource::kDetector;
  region.quad = {{{0, 0}, {w, 0}, {w, h}, {0, h}}};
  region.box = {0, 0, w, h};
  return region;
}

}  // namespace

Granularity GranularityOf(RegionKind kind, const ReadingConfig& reading,
                          const ReadOptions& options) {
  if (options.granularity) return *options.granularity;
  if (reading.granularity == Granularity::kPage || !options.task.empty()) {
    return reading.granularity;
  }
  return reading.Of(kind).granularity.value_or(reading.granularity);
}

void ApplyReadOptions(const ReadingConfig& reading, const ReadOptions& options, int width,
                      int height, PageLayout& layout) {
  if (options.granularity.value_or(reading.granularity) == Granularity::kPage) {
    layout.regions.clear();
    layout.regions.push_back(WholePage(width, height));
  }
  for (LayoutRegion& region : layout.regions) {
    if (options.task.empty()) {
      region.read = reading.Of(region.kind).read;
    } else {
      region.kind = KindOfTask(options.task);
    }
  }
}

}  // namespace platen
