#include "stages/formats/page_result.h"

namespace platen {

const char* DoubtCode(DoubtKind kind) {
  switch (kind) {
    case DoubtKind::kNoText:
      return "no_text";
    case DoubtKind::kLowConfidence:
      return "low_confidence";
    case DoubtKind::kForeignScript:
      return "foreign_script";
  }
  return "";
}

std::string DocumentInfo::Setting(const std::string& name) const {
  for (const DocumentSetting& setting : settings) {
    if (setting.name == name) return setting.value;
  }
  return "";
}

}  // namespace platen
