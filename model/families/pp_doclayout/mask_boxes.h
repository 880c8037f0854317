// The boxes around masks that are never in memory as a whole.
#pragma once

#include "model/families/pp_doclayout/report.h"
#include "model/ops/linear.h"

namespace platen::pp_doclayout {

// boxes [Q, 4] = centre x, y, width, height, as shares of the map, of the pixels where
// queries [Q, P] x features [.., .., P] is above 0; four zeros where there is none. Parallel over
// rows of the map.
void MaskBoxes(const KernelTable& kernels, ConstMatView queries, ConstMapView features,
               MatView boxes, const ArrayObserver& observer);

}  // namespace platen::pp_doclayout
