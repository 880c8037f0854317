// Dirt as large as dots and letters, strewn over a page.
#pragma once

#include <opencv2/core.hpp>

#include "stages/layout/components.h"

namespace platen::layout {

// Takes solid blobs that stand beside no letter out of `ink` and of its `components`, if the page
// has so many of them that they are dirt. Dots in a row (leaders, dotted rulings) stay, and so do
// blobs beside letters, which may be points or accents.
void RemoveSpecks(double letter_height, cv::Mat& ink, Components& components);

}  // namespace platen::layout
