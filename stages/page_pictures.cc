#include "stages/page_pictures.h"

#include <algorithm>

#include "model/ops/resize_image.h"
#include "model/support/error.h"
#include "stages/encode_image.h"
#include "stages/layout/layout.h"
#include "stages/layout/scale_image.h"

namespace platen {
namespace {

constexpr int kQuality = 75;

// As the layout saw it.
Image UprightPage(const DocumentReader& reader, const PageResult& result) {
  PageImage read = reader.ReadPage(result.page - 1);
  MakePixelsSquare(read.image, read.dpi_x, read.dpi_y);
  return RotatePage(read.image, result.rotation);
}

Image Shown(Image page) {
  const int longest = std::max(page.width, page.height);
  if (longest <= kLongestSide) return page;
  const auto side = [&](int length) {
    const int64_t scaled = (int64_t{length} * kLongestSide + longest / 2) / longest;
    return static_cast<int>(std::max<int64_t>(scaled, 1));
  };
  return ResizeBicubic(page, side(page.width), side(page.height));
}

}  // namespace

PageImages PicturesOf(const DocumentReader* reader) {
  if (reader == nullptr) return {};
  return [reader](const PageResult& result) -> std::optional<EncodedImage> {
    if (result.page < 1 || result.page > reader->num_pages() || result.width <= 0) {
      return std::nullopt;
    }
    try {
      Image page = UprightPage(*reader, result);
      if (page.width != result.width || page.height != result.height) return std::nullopt;
      return EncodedImage{"image/jpeg", ToJpeg(Shown(std::move(page)), kQuality)};
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::kEnvironment) throw;
      return std::nullopt;
    }
  };
}

}  // namespace platen
