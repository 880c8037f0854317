// What a region of a page is: the kinds that layout models tell apart and that decide how a region
// is read. The union of what GLM-OCR's and docling's users know.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace platen {

enum class RegionKind : uint8_t {
  kText,
  kTitle,
  kHeading,
  kListItem,
  kCaption,
  kTable,
  kFormula,
  kFormulaNumber,
  kFigure,
  kChart,
  kHeader,
  kFooter,
  kPageNumber,
  kFootnote,
  kAside,
  kReference,
  kCode,
  kSeal,
  kVerticalText,
};
inline constexpr size_t kNumRegionKinds = 19;

// "text", "list_item", ...: in platen.json and in results. In the order of the kinds.
const std::array<std::string_view, kNumRegionKinds>& RegionKindNames();

std::string_view RegionKindName(RegionKind kind);
std::optional<RegionKind> FindRegionKind(std::string_view name);

}  // namespace platen
