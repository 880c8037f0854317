#include "model/families/pp_doclayout/backbone.h"

#include <string>

#include "model/ops/map_resampling.h"

namespace platen::pp_doclayout {
namespace {

using Mode = Linear::Mode;

class Backbone {
 public:
  Backbone(const KernelTable& kernels, LinearWorkspace& linear, BackboneMaps& maps)
      : kernels_(kernels), linear_(linear), maps_(maps) {}

  ConstMapView Stem(const StemWeights& w, ConstMapView image) const {
    const ConstMapView x = Conv(w.stem1, image, maps_.stem);
    const int64_t channels = x.channels();
    const MapView both = maps_.side_by_side.Shaped(x.height, x.width, 2 * channels);
    MaxPool2x2(x, both.Channels(0, channels));
    const ConstMapView narrow = Conv(w.stem2a, x, maps_.half);
    w.stem2b.folded.Apply(kernels_, narrow, both.Channels(channels, channels), Mode::kRelu,
                          linear_);
    return Conv(w.stem4, Conv(w.stem3, both, maps_.quarter), maps_.stem);
  }

  ConstMapView Stage(const BackboneStage& w, int stage, ConstMapView x) const {
    FeatureMap& result = maps_.stages[static_cast<size_t>(stage)];
    if (stage > 0) {
      const ConvWindow& window = w.downsample.window;
      const MapView input =
          maps_.input.Shaped(window.OutputSide(x.height), window.OutputSide(x.width), x.channels());
      w.downsample.folded.Apply(x, input, DepthwiseConv2d::Activation::kNone);
      x = input;
    }
    for (size_t i = 0; i < w.blocks.size(); ++i) {
      const bool last = i + 1 == w.blocks.size();
      const ConstMapView y = Block(w.blocks[i], x, last ? result : maps_.blocks[i % 2]);
      // From the second on with a residual connection.
      if (i > 0) AddMap(x, last ? result.View() : maps_.blocks[i % 2].View());
      x = y;
    }
    return x;
  }

 private:
  ConstMapView Conv(const ConvUnit& unit, ConstMapView x, FeatureMap& y) const {
    const MapView out = y.Shaped(unit.window.OutputSide(x.height), unit.window.OutputSide(x.width),
                                 unit.folded.out_channels());
    unit.folded.Apply(kernels_, x, out, Mode::kRelu, linear_);
    return out;
  }

  // Each layer reads what the one before has written; all of it and x are joined at the end.
  ConstMapView Block(const BackboneBlock& w, ConstMapView x, FeatureMap& y) const {
    int64_t all = x.channels();
    for (const BackboneLayer& layer : w.layers) all += layer.conv.folded.out_channels();
    const MapView joined = maps_.side_by_side.Shaped(x.height, x.width, all);
    CopyMap(x, joined.Channels(0, x.channels()));
    ConstMapView before = joined.Channels(0, x.channels());
    int64_t column = x.channels();
    for (const BackboneLayer& layer : w.layers) {
      const MapView out = joined.Channels(column, layer.conv.folded.out_channels());
      Layer(layer, before, out);
      column += out.channels();
      before = out;
    }
    return Conv(w.expand, Conv(w.squeeze, joined, maps_.squeezed), y);
  }

  void Layer(const BackboneLayer& layer, ConstMapView x, MapView y) const {
    if (!layer.light) {
      layer.conv.folded.Apply(kernels_, x, y, Mode::kRelu, linear_);
      return;
    }
    const MapView between = maps_.pointwise.Shaped(x.height, x.width, y.channels());
    layer.conv.folded.Apply(kernels_, x, between, Mode::kStore, linear_);
    layer.depthwise.folded.Apply(between, y, DepthwiseConv2d::Activation::kRelu);
  }

  const KernelTable& kernels_;
  LinearWorkspace& linear_;
  BackboneMaps& maps_;
};

}  // namespace

void RunBackbone(const KernelTable& kernels, const Weights& weights, ConstMapView image,
                 LinearWorkspace& linear, BackboneMaps& maps, const ArrayObserver& observer) {
  const Backbone backbone(kernels, linear, maps);
  ConstMapView x = backbone.Stem(weights.stem, image);
  ReportMap(observer, "stem", x);
  for (int stage = 0; stage < kStages; ++stage) {
    x = backbone.Stage(weights.stages[static_cast<size_t>(stage)], stage, x);
    ReportMap(observer, "stage" + std::to_string(stage + 1), x);
  }
}

}  // namespace platen::pp_doclayout
