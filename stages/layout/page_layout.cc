#include "stages/layout/layout.h"

namespace platen {

bool PageLayout::HasLetters() const {
  if (letter_height <= 0) return false;
  for (const LayoutRegion& region : regions) {
    if (!region.lines.empty()) return true;
  }
  return false;
}

}  // namespace platen
