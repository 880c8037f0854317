// Upright stripes that a scanner's dirty glass draws over a whole page.
#pragma once

#include <vector>

#include "stages/layout/classical/rulings.h"
#include "stages/layout/geometry.h"

namespace platen::layout {

// Takes the stripes out of `verticals` and returns a box around each: rulings from the page's upper
// edge to its lower that go through print. One between columns stays a ruling. `letters`: without
// the pixels of rulings.
std::vector<Box> TakeStripes(const std::vector<Box>& letters, double page_height,
                             double letter_height, std::vector<Ruling>& verticals);

}  // namespace platen::layout
