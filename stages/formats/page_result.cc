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

}  // namespace platen
