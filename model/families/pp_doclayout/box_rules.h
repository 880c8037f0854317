// Which of the boxes on a page are kept.
#pragma once

#include <vector>

#include "model/families/layout_model.h"

namespace platen::pp_doclayout {

// The rules of GLM-OCR's SDK, to the letter: overlapping boxes go by score, images as large as the
// page go, boxes within others go, coordinates are cut off to whole pixels. Two boxes that lie in
// each other both go; so do a reference and the text around it; a box without width may stay.
std::vector<Detection> ApplySdkRules(std::vector<Detection> found, int page_width, int page_height);

// Ours: the same, but nothing is lost that is not covered by what stays. Of two boxes that lie in
// each other the better one stays; a box that goes takes no other with it; a reference stays and
// the box around it goes, unless that is a reference whose entries were found too: then the entries
// stay. Boxes are cut at the page's edge, keep fractions, and go below a pixel's width or height.
std::vector<Detection> ApplyRules(std::vector<Detection> found, int page_width, int page_height);

}  // namespace platen::pp_doclayout
