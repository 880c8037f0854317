#include <utility>

#include "stages/layout/region_detector.h"

namespace platen {
namespace {

LayoutRegion ToRegion(const Detection& detection) {
  LayoutRegion region;
  region.kind = detection.kind;
  region.source = RegionSource::kDetector;
  region.native_label = detection.label;
  region.score = static_cast<float>(detection.score);
  const BoxF box = {static_cast<float>(detection.x0), static_cast<float>(detection.y0),
                    static_cast<float>(detection.x1), static_cast<float>(detection.y1)};
  region.box = box;
  region.quad = {PointF{box.x0, box.y0}, PointF{box.x1, box.y0}, PointF{box.x1, box.y1},
                 PointF{box.x0, box.y1}};
  return region;
}

class ModelDetector final : public RegionDetector {
 public:
  ModelDetector(std::shared_ptr<const LayoutModel> model, BoxRules rules)
      : model_(std::move(model)), rules_(rules) {}

  std::vector<LayoutRegion> Detect(const Image& page) const override {
    std::vector<LayoutRegion> regions;
    for (const Detection& detection :
         model_->Apply(rules_, model_->Detect(page, {}), page.width, page.height)) {
      regions.push_back(ToRegion(detection));
    }
    return regions;
  }
  RegionOrder order() const override { return RegionOrder::kReading; }

 private:
  std::shared_ptr<const LayoutModel> model_;
  BoxRules rules_;
};

}  // namespace

std::unique_ptr<RegionDetector> MakeModelDetector(std::shared_ptr<const LayoutModel> model,
                                                  BoxRules rules) {
  return std::make_unique<ModelDetector>(std::move(model), rules);
}

}  // namespace platen
