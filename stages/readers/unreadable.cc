#include "stages/readers/unreadable.h"

#include "model/support/error.h"
#include "model/support/grouped.h"

namespace platen {

std::string CutOffReason(uint64_t num_bytes, const char* format) {
  return "cut off at byte " + Grouped(num_bytes) + " (" + format + ")";
}

void ThrowUnreadable(const std::string& path, const std::string& reason, FailureCode code) {
  throw Error(ErrorKind::kInput, {.file = path, .field = {}}, reason, code);
}

void ThrowCutOff(const std::string& path, uint64_t num_bytes, const char* format) {
  ThrowUnreadable(path, CutOffReason(num_bytes, format));
}

void ThrowDamaged(const std::string& path, uint64_t offset, const char* format,
                  const std::string& what) {
  ThrowUnreadable(path, "damaged at byte " + Grouped(offset) + " (" + format + ": " + what + ")");
}

}  // namespace platen
