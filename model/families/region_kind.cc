#include "model/families/region_kind.h"

#include <algorithm>

namespace platen {

const std::array<std::string_view, kNumRegionKinds>& RegionKindNames() {
  static constexpr std::array<std::string_view, kNumRegionKinds> names = {
      "text",      "title",   "heading",        "list_item",    "caption",
      "table",     "formula", "formula_number", "figure",       "chart",
      "header",    "footer",  "page_number",    "footnote",     "aside",
      "reference", "code",    "seal",           "vertical_text"};
  return names;
}

std::string_view RegionKindName(RegionKind kind) {
  return RegionKindNames()[static_cast<size_t>(kind)];
}

std::optional<RegionKind> FindRegionKind(std::string_view name) {
  const auto& names = RegionKindNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<RegionKind>(found - names.begin());
}

}  // namespace platen
