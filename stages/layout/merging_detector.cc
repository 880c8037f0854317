#include <string>
#include <utility>

#include "model/support/attempt.h"
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
    std::vector<LayoutRegion> regions;
    const std::string failure = Attempt([&] {
      regions = found.rotation == 0 ? regions_->Detect(page)
                                    : regions_->Detect(RotatePage(page, found.rotation));
    });
    if (failure.empty()) {
      return MergeRegions(std::move(regions), std::move(found), regions_->order());
    }
    found.warnings.push_back("laid out by the built-in rules, because the layout model failed: " +
                             failure);
    return found;
  }

  bool WantsPagesInTurn() const override { return true; }

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
