// Connected components of ink.
#pragma once

#include <opencv2/core.hpp>
#include <span>
#include <vector>

#include "stages/layout/geometry.h"
#include "stages/layout/runs.h"

namespace platen::layout {

struct Component {
  int x = 0, y = 0, width = 0, height = 0;
  int area = 0;  // pixels of ink
  // About as wide as high, widest in its middle, without holes: a point or a speck.
  bool disc = false;
  // Its share of Components::runs.
  int first_run = 0, num_runs = 0;

  Box box() const {
    return {static_cast<double>(x), static_cast<double>(y), static_cast<double>(x + width),
            static_cast<double>(y + height)};
  }
  cv::Rect rect() const { return {x, y, width, height}; }
};

struct Components {
  cv::Size size;                 // of the page, pixels
  std::vector<Component> items;  // by x, then y
  std::vector<Run> runs;         // those of one component are together, from the top

  std::span<const Run> RunsOf(const Component& c) const {
    return {runs.data() + c.first_run, static_cast<size_t>(c.num_runs)};
  }
  // Whether `mask` (8-bit, of the page's size) is set somewhere on the component.
  bool Touches(const Component& c, const cv::Mat& mask) const;
  // Puts `value` into the pixels of `image` (8-bit, of the page's size) that are the component's.
  void Paint(const Component& c, uint8_t value, cv::Mat& image) const;
  // 1 where the component is, 0 elsewhere (8-bit): the pixels of its rect().
  cv::Mat Mask(const Component& c) const;
};

// The components of `ink` (8-bit, not 0 is ink). Needs memory for the runs alone.
Components FindComponents(const cv::Mat& ink, Connectivity connectivity = Connectivity::kCorners);

}  // namespace platen::layout
