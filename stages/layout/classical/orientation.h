// Which way up a page lies.
#pragma once

#include <vector>

#include "stages/layout/classical/page_work.h"
#include "stages/layout/components.h"

namespace platen::layout {

// True if the letters' neighbours stand above and below them instead of beside them: the page must
// be turned by 90 or 270 degrees. False if there is any doubt. (Vertically written scripts are not
// expected.)
bool LiesOnItsSide(const std::vector<Component>& components, double letter_height);

// True if the lines are upside down: in Latin, Greek and Cyrillic print more letters share their
// lower end than their upper one, and where all are capitals or digits, points and commas stand
// low. False if there is any doubt.
bool IsUpsideDown(const PageLines& found, double letter_height);

}  // namespace platen::layout
