#include "model/families/pp_doclayout/network.h"

#include <cassert>
#include <cmath>
#include <utility>

#include "model/support/error.h"

namespace platen::pp_doclayout {
namespace {

// Levels as shares of 255.
ConstMapView PixelValues(const Image& image, FeatureMap& map) {
  const MapView out = map.Shaped(image.height, image.width, Image::kChannels);
  const size_t count = image.rgb.size();
  for (size_t i = 0; i < count; ++i) {
    out.pixels.data[i] = static_cast<float>(image.rgb[i]) / 255.0F;
  }
  return out;
}

void CheckFinite(ConstMatView rows) {
  for (int64_t r = 0; r < rows.rows; ++r) {
    for (int64_t i = 0; i < rows.cols; ++i) {
      if (std::isfinite(rows.Row(r)[i])) continue;
      throw Error(ErrorKind::kInput, {}, "the layout model gives no numbers for this page");
    }
  }
}

}  // namespace

Network::Network(const KernelTable& kernels, Config config, std::shared_ptr<const Weights> weights)
    : kernels_(kernels),
      config_(std::move(config)),
      weights_(std::move(weights)),
      encoder_(kernels, config_, weights_->encoder) {}

NetworkResult Network::Run(const Image& image, NetworkMemory& memory,
                           const ArrayObserver& observer) const {
  assert(image.width == config_.width && image.height == config_.height);
  if (observer) {
    observer({"resized",
              {image.height, image.width, Image::kChannels},
              std::span<const uint8_t>(image.rgb)});
  }
  const ConstMapView pixels = PixelValues(image, memory.image);
  RunBackbone(kernels_, *weights_, pixels, memory.linear, memory.backbone, observer);
  encoder_.Run(memory.backbone, memory.linear, memory.encoder, observer);
  SelectQueries(kernels_, config_, weights_->decoder, memory.encoder, memory.linear, memory.queries,
                observer);
  RunDecoder(kernels_, config_, weights_->decoder, memory.linear, memory.queries, memory.decoder,
             observer);
  const NetworkResult result = {memory.decoder.logits.View(), memory.queries.boxes.View(),
                                memory.decoder.order_logits.View()};
  for (const ConstMatView rows : {result.logits, result.boxes, result.order_logits}) {
    CheckFinite(rows);
  }
  return result;
}

}  // namespace platen::pp_doclayout
