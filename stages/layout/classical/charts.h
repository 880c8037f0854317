// Drawings on axes: their parts are one picture, and the labels at their axes are part of it.
#pragma once

#include <vector>

#include "stages/layout/classical/phrases.h"
#include "stages/layout/classical/rulings.h"
#include "stages/layout/geometry.h"

namespace platen::layout {

// Joins the pictures that stand on axes, and leaves out the lines that label these. `pictures` in
// pixels; those that stand on none stay as they are.
void CompleteCharts(const Rulings& rulings, double letter_height, std::vector<Box>& pictures,
                    std::vector<Phrase>& lines);

}  // namespace platen::layout
