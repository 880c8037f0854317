// Feature maps of another size: pooling and upsampling.
#pragma once

#include "model/ops/feature_map.h"

namespace platen {

// y [height, width] = the largest of the pixels (y, x) .. (y + 1, x + 1) of x, which has a row and
// a column of zeros behind its last ones. y has the size of x and does not overlap it.
void MaxPool2x2(ConstMapView x, MapView y);

// y [2 height, 2 width]: every pixel of x four times.
void UpsampleNearest2x(ConstMapView x, MapView y);

// y [2 height, 2 width]: bilinear between the centres of x's pixels; outside of them the nearest
// row or column. Added to y with kAdd.
enum class Upsampled { kStored, kAdded };
void UpsampleBilinear2x(ConstMapView x, MapView y, Upsampled how = Upsampled::kStored);

// x += y, pixel by pixel.
void AddMap(ConstMapView y, MapView x);
// y = x.
void CopyMap(ConstMapView x, MapView y);

}  // namespace platen
