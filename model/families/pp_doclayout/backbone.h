// HGNetV2: from the image to maps of the strides 4, 8, 16 and 32.
//
// Source: transformers models/hgnet_v2.
#pragma once

#include <array>

#include "model/families/pp_doclayout/config.h"
#include "model/families/pp_doclayout/modules.h"
#include "model/families/pp_doclayout/report.h"
#include "model/ops/feature_map.h"

namespace platen::pp_doclayout {

// The maps of a pass, and memory for what lies between them. Settles at the size of one image.
struct BackboneMaps {
  std::array<FeatureMap, kStages> stages;

  FeatureMap stem, half, quarter;  // of the stem
  FeatureMap input;                // of a stage
  FeatureMap side_by_side;         // what the layers of a block have read and written
  FeatureMap pointwise, squeezed;
  std::array<FeatureMap, 2> blocks;
};

// image [height, width, 3]
void RunBackbone(const KernelTable& kernels, const Weights& weights, ConstMapView image,
                 LinearWorkspace& linear, BackboneMaps& maps, const ArrayObserver& observer);

}  // namespace platen::pp_doclayout
