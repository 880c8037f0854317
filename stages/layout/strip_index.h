// Finds boxes by height on the page without looking at all of them.
#pragma once

#include <vector>

#include "stages/layout/geometry.h"

namespace platen::layout {

// Boxes sorted into horizontal strips. Keeps indices, not the boxes; the boxes' y must not be
// negative. Thread-safe once built.
class StripIndex {
 public:
  // `strip_height` > 0; about the height of the boxes serves best.
  StripIndex(const std::vector<Box>& boxes, double strip_height);

  // Indices, ascending and each once, of every box that meets the strips of [y0, y1]: a superset of
  // the boxes that meet [y0, y1].
  void Find(double y0, double y1, std::vector<int>& found) const;

 private:
  int StripOf(double y) const;

  double strip_height_;
  std::vector<std::vector<int>> strips_;
};

}  // namespace platen::layout
