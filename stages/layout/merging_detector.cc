#include <utility>

#include "stages/layout/region_detector.h"
#include "stages/layout/regions.h"

namespace platen {
namespace {

class MergingDetector : public LayoutDetector {
 public:
  MergingDetector(std::unique_ptr<LayoutDetector> lines, std::unique_ptr<RegionDetector> regions)
      : lines_(std::move(lines)), regions_(std::move(regions)) {}

  PageLayout Detect(const Image& page) const override {
    PageLayout found = lines_->Detect(page);
    if (found.rotation == 0) return MergeRegions(regions_->Detect(page), std::move(found));
    return MergeRegions(regions_->Detect(RotatePage(page, found.rotation)), std::move(found));
  }

 private:
  std::unique_ptr<LayoutDetector> lines_;
  std::unique_ptr<RegionDetector> regions_;
};

}  // namespace

std::unique_ptr<LayoutDetector> MakeMergingDetector(std::unique_ptr<LayoutDetector> lines,
                                                    std::unique_ptr<RegionDetector> regions) {
  return std::make_unique<MergingDetector>(std::move(lines), std::move(regions));
}

}  // namespace platen
