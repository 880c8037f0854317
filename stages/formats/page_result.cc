#include "stages/formats/page_result.h"

#include <algorithm>

namespace platen {

const char* DoubtCode(DoubtKind kind) {
  switch (kind) {
    case DoubtKind::kNoText:
      return "no_text";
    case DoubtKind::kLowConfidence:
      return "low_confidence";
    case DoubtKind::kForeignScript:
      return "foreign_script";
    case DoubtKind::kRepetition:
      return "repetition";
    case DoubtKind::kTokenLimit:
      return "token_limit";
  }
  return "";
}

bool HasTextLayer(const RegionResult& region) {
  return std::any_of(region.lines.begin(), region.lines.end(),
                     [](const LineResult& line) { return line.from_text_layer; });
}

bool HasTextLayer(const PageResult& page) {
  return std::any_of(page.regions.begin(), page.regions.end(),
                     [](const RegionResult& region) { return HasTextLayer(region); });
}

std::string DocumentInfo::Setting(const std::string& name) const {
  for (const DocumentSetting& setting : settings) {
    if (setting.name == name) return setting.value;
  }
  return "";
}

}  // namespace platen
