// The height of small letters: the measure of everything else in the layout stage.
#pragma once

#include <optional>
#include <vector>

#include "stages/layout/components.h"

namespace platen::layout {

// Height in pixels of the letters without ascenders that rule the page (on pages of capitals or
// digits: of those); the smaller one where two sizes stand beside each other. Nothing if there are
// fewer than three components that could be letters.
std::optional<double> LetterHeight(const std::vector<Component>& components);

}  // namespace platen::layout
