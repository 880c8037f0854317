// Hatched and stippled areas, which look like lines of letters at every height.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "stages/layout/classical/phrases.h"

namespace platen::layout {

// How much of a line's ink goes on above and below it: 0 for print, which has white over and under
// it; about 1 within hatching. `sums`: the integral image of the page's ink (1 is ink).
double InkAround(const cv::Mat& sums, const Box& line, double letter_height);

// Where lines that are none lie close to one another, by LeftOf. `ink`: 1 is ink.
std::vector<Box> HatchedAreas(const cv::Mat& ink, const std::vector<Phrase>& lines,
                              double letter_height);

}  // namespace platen::layout
