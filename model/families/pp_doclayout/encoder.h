// From the backbone's maps to the maps that the decoder reads (AIFI, FPN, PAN) and the features
// that masks are made of.
//
// Source: transformers models/pp_doclayout_v3, PPDocLayoutV3HybridEncoder; RT-DETR (Zhao et al.
// 2024).
#pragma once

#include <array>

#include "model/families/pp_doclayout/attention.h"
#include "model/families/pp_doclayout/backbone.h"
#include "model/families/pp_doclayout/config.h"

namespace platen::pp_doclayout {

// The maps of a pass, and memory for what lies between them.
struct EncoderMaps {
  std::array<FeatureMap, kLevels> pan;  // strides 8, 16, 32
  FeatureMap mask_features;             // stride 4, [.., .., prototypes]

  std::array<FeatureMap, kLevels> projected, top;
  FeatureMap pair;                // two maps side by side: what a CSP block reads
  std::array<FeatureMap, 2> csp;  // inside of a CSP block
  FeatureMap fused;               // behind an FPN block
  FeatureMap branch, doubled;     // of the mask branch
  FeatureMap mask_sum, mask_large, mask_base;
  Mat positions, ffn;
  AttentionMemory attention;
};

// Sine positions of a map, [height x width, channels]: sin y, cos y, sin x, cos x, a quarter of the
// channels each.
void WritePositions(int height, int width, double temperature, MatView out);

class Encoder {
 public:
  // Everything outlives it.
  Encoder(const KernelTable& kernels, const Config& config, const EncoderWeights& weights)
      : kernels_(kernels), config_(config), w_(weights) {}

  void Run(const BackboneMaps& backbone, LinearWorkspace& linear, EncoderMaps& maps,
           const ArrayObserver& observer) const;

  // The transformer layers on the map of stride 32, in place.
  void Aifi(MapView map, LinearWorkspace& linear, EncoderMaps& maps) const;

 private:
  void Csp(const CspBlock& w, ConstMapView x, MapView y, LinearWorkspace& linear,
           EncoderMaps& maps) const;
  MapView Conv(const ConvUnit& unit, ConstMapView x, FeatureMap& y, Linear::Mode mode,
               LinearWorkspace& linear) const;
  void TopDown(LinearWorkspace& linear, EncoderMaps& maps) const;
  void BottomUp(LinearWorkspace& linear, EncoderMaps& maps) const;
  void MaskFeatures(const BackboneMaps& backbone, LinearWorkspace& linear, EncoderMaps& maps,
                    const ArrayObserver& observer) const;

  const KernelTable& kernels_;
  const Config& config_;
  const EncoderWeights& w_;
};

}  // namespace platen::pp_doclayout
