// Squares to be ticked, before lines of forms.
#pragma once

#include <vector>

#include "stages/layout/classical/letters.h"
#include "stages/layout/classical/phrases.h"
#include "stages/layout/components.h"

namespace platen::layout {

struct FoundCheckBox {
  Box box;
  CheckBox state;
};

// Squares drawn with thin lines, of about the height of capitals. By x, then y. `components`: of
// `ink`.
std::vector<FoundCheckBox> FindCheckBoxes(const cv::Mat& ink, const Components& components,
                                          double letter_height);

// Takes out of the letters the boxes with nothing on their left, and what is drawn in them: no
// model reads them. Those that stay in `boxes` are taken.
void TakeCheckBoxes(double letter_height, std::vector<FoundCheckBox>& boxes, Letters& letters);

// Notes each box at the line it stands before; one that stands before none is dirt or drawing.
void MarkLines(const std::vector<FoundCheckBox>& boxes, double letter_height,
               std::vector<Phrase>& lines);

}  // namespace platen::layout
