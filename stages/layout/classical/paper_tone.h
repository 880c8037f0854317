// The tone of a page's paper, which shadows and a scanner's lamp make darker towards one side.
#pragma once

#include <opencv2/core.hpp>

namespace platen::layout {

// For each cell of `tones` (8-bit, print taken out) the tone that paper has there: a quadratic
// surface through the light cells and through the darker ones that it leads on to. A picture begins
// with a step, so the surface passes over it. Where nothing of the kind fits, one tone for the
// whole page, that of its lightest tenth. Returns 32-bit floats of the same size.
cv::Mat PaperTone(const cv::Mat& tones);

}  // namespace platen::layout
