#include "stages/layout/strip_index.h"

#include <algorithm>
#include <cmath>

namespace platen::layout {

StripIndex::StripIndex(const std::vector<Box>& boxes, double strip_height)
    : strip_height_(strip_height) {
  double bottom = 0;
  for (const Box& box : boxes) bottom = std::max(bottom, box.y1);
  strips_.resize(static_cast<size_t>(bottom / strip_height_) + 1);
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (int s = StripOf(boxes[i].y0); s <= StripOf(boxes[i].y1); ++s) {
      strips_[s].push_back(static_cast<int>(i));
    }
  }
}

int StripIndex::StripOf(double y) const {
  const double last = static_cast<double>(strips_.size() - 1);
  return static_cast<int>(std::clamp(std::floor(y / strip_height_), 0.0, last));
}

void StripIndex::Find(double y0, double y1, std::vector<int>& found) const {
  found.clear();
  const int first = StripOf(y0);
  const int last = StripOf(y1);
  for (int s = first; s <= last; ++s) {
    found.insert(found.end(), strips_[s].begin(), strips_[s].end());
  }
  if (first == last) return;
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
}

}  // namespace platen::layout
