#include "model/families/pp_doclayout/encoder.h"

#include <string>

#include "model/ops/map_resampling.h"
#include "model/ops/norm.h"
#include "model/ops/rope.h"
#include "model/support/fixed_math.h"

namespace platen::pp_doclayout {
namespace {

using Mode = Linear::Mode;

}  // namespace

void WritePositions(int height, int width, double temperature, MatView out) {
  const int64_t quarter = out.cols / 4;
  const double log_temperature = FixedLog(temperature);
  for (int64_t i = 0; i < quarter; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(quarter);
    const double frequency = FixedExp(-share * log_temperature);
    for (int y = 0; y < height; ++y) {
      const SinCos v = ExactSinCos(static_cast<float>(y * frequency));
      for (int x = 0; x < width; ++x) {
        const SinCos h = ExactSinCos(static_cast<float>(x * frequency));
        float* row = out.Row(int64_t{y} * width + x);
        row[i] = v.sin;
        row[quarter + i] = v.cos;
        row[2 * quarter + i] = h.sin;
        row[3 * quarter + i] = h.cos;
      }
    }
  }
}

void Encoder::Run(const BackboneMaps& backbone, LinearWorkspace& linear, EncoderMaps& maps,
                  const ArrayObserver& observer) const {
  for (size_t i = 0; i < kLevels; ++i) {
    const MapView projected = Conv(w_.input_proj[i], backbone.stages[i + 1].View(),
                                   maps.projected[i], Mode::kStore, linear);
    ReportMap(observer, "proj" + std::to_string(i), projected);
  }
  Aifi(maps.projected.back().View(), linear, maps);
  ReportMap(observer, "aifi2", maps.projected.back().View());
  TopDown(linear, maps);
  for (size_t i = 0; i < kLevels; ++i) {
    ReportMap(observer, "fpn" + std::to_string(i), maps.top[i].View());
  }
  BottomUp(linear, maps);
  for (size_t i = 0; i < kLevels; ++i) {
    ReportMap(observer, "pan" + std::to_string(i), maps.pan[i].View());
  }
  MaskFeatures(backbone, linear, maps, observer);
}

// x = norm(x + attention(x)), x = norm(x + ffn(x))
void Encoder::Aifi(MapView map, LinearWorkspace& linear, EncoderMaps& maps) const {
  const MatView x = map.pixels;
  const MatView positions = maps.positions.Shaped(x.rows, x.cols);
  WritePositions(map.height, map.width, config_.encoder.temperature, positions);
  const MatView inner = maps.ffn.Shaped(x.rows, config_.encoder.ffn);
  for (const AifiLayer& layer : w_.aifi) {
    AddSelfAttention(kernels_, layer.attention, config_.encoder.heads, positions, x, linear,
                     maps.attention);
    Normalise(kernels_, layer.attention_norm, config_.layer_norm_eps, x);
    layer.fc1.Apply(kernels_, x, inner, linear);
    GeluRows(kernels_, inner);
    layer.fc2.Apply(kernels_, inner, x, linear, Mode::kAddTo);
    Normalise(kernels_, layer.final_norm, config_.layer_norm_eps, x);
  }
}

MapView Encoder::Conv(const ConvUnit& unit, ConstMapView x, FeatureMap& y, Mode mode,
                      LinearWorkspace& linear) const {
  const MapView out = y.Shaped(unit.window.OutputSide(x.height), unit.window.OutputSide(x.width),
                               unit.folded.out_channels());
  unit.folded.Apply(kernels_, x, out, mode, linear);
  return out;
}

// y = conv3(bottlenecks(conv1(x)) + conv2(x))
void Encoder::Csp(const CspBlock& w, ConstMapView x, MapView y, LinearWorkspace& linear,
                  EncoderMaps& maps) const {
  size_t at = 0;
  MapView inner = Conv(w.conv1, x, maps.csp[at], Mode::kSilu, linear);
  for (const RepUnit& bottleneck : w.bottlenecks) {
    at = 1 - at;
    const MapView next = maps.csp[at].Shaped(x.height, x.width, inner.channels());
    bottleneck.folded.Apply(kernels_, inner, next, Mode::kSilu, linear);
    inner = next;
  }
  AddMap(Conv(w.conv2, x, maps.csp[1 - at], Mode::kSilu, linear), inner);
  if (w.conv3.empty()) {
    CopyMap(inner, y);
  } else {
    w.conv3.front().folded.Apply(kernels_, inner, y, Mode::kSilu, linear);
  }
}

// FPN: every map is joined with the one above it, doubled.
void Encoder::TopDown(LinearWorkspace& linear, EncoderMaps& maps) const {
  ConstMapView above = maps.projected.back().View();
  for (size_t i = 0; i < kLevels - 1; ++i) {
    const size_t level = kLevels - 1 - i;
    const ConstMapView lateral = Conv(w_.lateral[i], above, maps.top[level], Mode::kSilu, linear);
    const ConstMapView below = maps.projected[level - 1].View();
    const MapView pair = maps.pair.Shaped(below.height, below.width, 2 * below.channels());
    UpsampleNearest2x(lateral, pair.Channels(0, below.channels()));
    CopyMap(below, pair.Channels(below.channels(), below.channels()));
    const MapView fused =
        (level == 1 ? maps.top[0] : maps.fused).Shaped(below.height, below.width, below.channels());
    Csp(w_.fpn[i], pair, fused, linear, maps);
    above = fused;
  }
}

// PAN: every map is joined with the one below it, halved.
void Encoder::BottomUp(LinearWorkspace& linear, EncoderMaps& maps) const {
  const ConstMapView first = maps.top[0].View();
  ConstMapView below = maps.pan[0].Shaped(first.height, first.width, first.channels());
  CopyMap(first, maps.pan[0].View());
  for (size_t i = 0; i < kLevels - 1; ++i) {
    const ConstMapView top = maps.top[i + 1].View();
    const MapView pair = maps.pair.Shaped(top.height, top.width, 2 * top.channels());
    w_.downsample[i].folded.Apply(kernels_, below, pair.Channels(0, top.channels()), Mode::kSilu,
                                  linear);
    CopyMap(top, pair.Channels(top.channels(), top.channels()));
    const MapView out = maps.pan[i + 1].Shaped(top.height, top.width, top.channels());
    Csp(w_.pan[i], pair, out, linear, maps);
    below = out;
  }
}

void Encoder::MaskFeatures(const BackboneMaps& backbone, LinearWorkspace& linear, EncoderMaps& maps,
                           const ArrayObserver& observer) const {
  const MapView sum =
      Conv(w_.mask_scale[0][0], maps.pan[0].View(), maps.mask_sum, Mode::kSilu, linear);
  for (size_t level = 1; level < kLevels; ++level) {
    ConstMapView x = maps.pan[level].View();
    const auto& convs = w_.mask_scale[level];
    for (size_t i = 0; i < convs.size(); ++i) {
      const ConstMapView y = Conv(convs[i], x, maps.branch, Mode::kSilu, linear);
      if (i + 1 == convs.size()) {
        UpsampleBilinear2x(y, sum, Upsampled::kAdded);
      } else {
        const MapView twice = maps.doubled.Shaped(2 * y.height, 2 * y.width, y.channels());
        UpsampleBilinear2x(y, twice);
        x = twice;
      }
    }
  }
  const ConstMapView head = Conv(w_.mask_sum, sum, maps.branch, Mode::kSilu, linear);
  ReportMap(observer, "mask_head", head);
  const MapView large =
      Conv(w_.mask_lateral, backbone.stages[0].View(), maps.mask_large, Mode::kSilu, linear);
  UpsampleBilinear2x(head, large, Upsampled::kAdded);
  const ConstMapView base = Conv(w_.mask_base, large, maps.mask_base, Mode::kSilu, linear);
  const MapView features =
      maps.mask_features.Shaped(base.height, base.width, w_.mask_output.columns());
  w_.mask_output.Apply(kernels_, base.pixels, features.pixels, linear);
  ReportMap(observer, "mask_features", features);
}

}  // namespace platen::pp_doclayout
