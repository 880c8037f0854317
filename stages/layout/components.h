// Connected components of ink.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "stages/layout/geometry.h"

namespace platen::layout {

struct Component {
  int x = 0, y = 0, width = 0, height = 0;
  int area = 0;   // pixels of ink
  int label = 0;  // its value in Components::labels

  Box box() const {
    return {static_cast<double>(x), static_cast<double>(y), static_cast<double>(x + width),
            static_cast<double>(y + height)};
  }
};

struct Components {
  std::vector<Component> items;  // by x, then y
  cv::Mat labels;                // 32-bit; 0 is paper
};

// 8-connected components of `ink` (8-bit, not 0 is ink).
Components FindComponents(const cv::Mat& ink);

}  // namespace platen::layout
