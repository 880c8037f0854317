// Letters joined into phrases: runs of words with ordinary spaces.
#pragma once

#include <vector>

#include "stages/layout/classical/gutters.h"
#include "stages/layout/classical/letters.h"
#include "stages/layout/geometry.h"
#include "stages/layout/layout.h"

namespace platen::layout {

// A phrase, later a text line.
struct Phrase {
  std::vector<Box> letters;
  Box box;            // of the body: single letters that reach far up or down are cut off
  double weight = 0;  // of a line: the share of its letters' boxes that is ink; 0: not measured
  CheckBox check_box = CheckBox::kNone;  // of a line: what stands before it
};

// Phrases of running text, then those of large letters (headlines), which take in the small letters
// inside them. None reaches across a gutter.
std::vector<Phrase> FindPhrases(const Letters& letters, const Gutters& gutters,
                                double letter_height);

}  // namespace platen::layout
