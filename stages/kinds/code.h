// Program code: lines of monospaced print with many brackets and signs.
#pragma once

#include <optional>
#include <span>

#include "stages/formats/page_result.h"

namespace platen {

// Of monospaced print: n characters are n * advance + margin wide, in pixels.
struct Pitch {
  double advance = 0;
  double margin = 0;
};

// The pitch that three lines in four agree with, of at least three with different numbers of
// characters; nothing: the print is not monospaced, or nobody can tell.
std::optional<Pitch> PitchOf(std::span<const LineResult> lines);

// Plain text becomes code where its print is monospaced and has the signs of code; so do the
// regions beside it that stand on the same grid, and all become one region. Its text has the
// indentation and the empty lines that the page shows. Regions that a layout model calls code get
// such a text too.
void AssignCode(PageResult& page);

}  // namespace platen
