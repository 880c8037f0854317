#include "stages/layout/classical/ink_sums.h"

#include <opencv2/imgproc.hpp>

namespace platen::layout {

InkSums::InkSums(const cv::Mat& ink) { cv::integral(ink, sums_, CV_32S); }

}  // namespace platen::layout
