#include "stages/cut_pictures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stages/encode_image.h"

namespace platen {
Image CutOut(const Image& page, const BoxF& box) {
  const auto bound = [](float value, int most) {
    return static_cast<int>(std::clamp(value, 0.0F, static_cast<float>(most)));
  };
  const int x0 = bound(std::floor(box.x0), page.width), x1 = bound(std::ceil(box.x1), page.width);
  const int y0 = bound(std::floor(box.y0), page.height), y1 = bound(std::ceil(box.y1), page.height);
  if (x1 <= x0 || y1 <= y0) return {};
  Image crop(x1 - x0, y1 - y0);
  for (int y = 0; y < crop.height; ++y) {
    const uint8_t* from = page.Row(y0 + y) + static_cast<ptrdiff_t>(x0) * Image::kChannels;
    std::copy_n(from, static_cast<size_t>(crop.width) * Image::kChannels, crop.Row(y));
  }
  return crop;
}

std::vector<Picture> CutPictures(const Image& page, const PageLayout& layout) {
  std::vector<Picture> pictures;
  for (size_t i = 0; i < layout.regions.size(); ++i) {
    const LayoutRegion& region = layout.regions[i];
    if (region.kind != RegionKind::kFigure && region.kind != RegionKind::kChart) continue;
    const Image crop = CutOut(page, region.box);
    if (!crop.empty()) pictures.push_back({static_cast<int>(i), ToPng(crop)});
  }
  return pictures;
}

}  // namespace platen
