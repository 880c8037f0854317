// Intermediate results under the names of the reference's arrays.
#pragma once

#include <string>

#include "model/families/layout_model.h"
#include "model/ops/feature_map.h"

namespace platen::pp_doclayout {

// [channels, height, width]
void ReportMap(const ArrayObserver& observer, const std::string& name, ConstMapView map);
// [rows, columns]
void ReportRows(const ArrayObserver& observer, const std::string& name, ConstMatView rows);

}  // namespace platen::pp_doclayout
