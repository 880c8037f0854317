// Hatched and stippled areas, which look like lines of letters at every height.
#pragma once

#include <vector>

#include "stages/layout/classical/ink_sums.h"
#include "stages/layout/classical/phrases.h"

namespace platen::layout {

// How much of a line's ink goes on above and below it: 0 for print, which has white over and under
// it; about 1 within hatching.
double InkAround(const InkSums& ink, const Box& line, double letter_height);

// Around the lines that are none: one area, or none.
std::vector<Box> HatchedAreas(const InkSums& ink, const std::vector<Phrase>& lines,
                              double letter_height);

}  // namespace platen::layout
