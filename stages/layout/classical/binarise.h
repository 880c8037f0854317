// From a grey scan to ink and paper.
#pragma once

#include <opencv2/core.hpp>

namespace platen::layout {

// Divides by the light on the paper: 255 is paper everywhere, ink keeps its contrast, large dark
// areas (photos, black borders) stay dark; shadows of the lid along the edges become white.
// `grey` 8-bit, one channel, any size from 1 x 1. Returns the same size and type.
cv::Mat FlattenLight(const cv::Mat& grey);

// Otsu's threshold, held within bounds so that an empty page does not become noise. Returns 8-bit:
// 1 is ink, 0 is paper.
cv::Mat Binarise(const cv::Mat& flat);

}  // namespace platen::layout
