#include "model/families/pp_doclayout/report.h"

namespace platen::pp_doclayout {

void ReportMap(const ArrayObserver& observer, const std::string& name, ConstMapView map) {
  if (!observer) return;
  std::vector<float> values;
  values.reserve(static_cast<size_t>(map.pixels.rows * map.channels()));
  for (int64_t c = 0; c < map.channels(); ++c) {
    for (int64_t p = 0; p < map.pixels.rows; ++p) values.push_back(map.pixels.Row(p)[c]);
  }
  observer({name, {map.channels(), map.height, map.width}, std::span<const float>(values)});
}

void ReportRows(const ArrayObserver& observer, const std::string& name, ConstMatView rows) {
  if (!observer) return;
  std::vector<float> values;
  for (int64_t r = 0; r < rows.rows; ++r) {
    values.insert(values.end(), rows.Row(r), rows.Row(r) + rows.cols);
  }
  observer({name, {rows.rows, rows.cols}, std::span<const float>(values)});
}

}  // namespace platen::pp_doclayout
