// Boxes and order statistics shared by the pieces of the layout stage.
#pragma once

#include <vector>

namespace platen::layout {

// An upright rectangle in working pixels; x1 and y1 are exclusive.
struct Box {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;

  double width() const { return x1 - x0; }
  double height() const { return y1 - y0; }
  double center_x() const { return (x0 + x1) / 2; }
  double center_y() const { return (y0 + y1) / 2; }
};

// Length of the common part of the two projections; negative: the gap between them.
double OverlapX(const Box& a, const Box& b);
double OverlapY(const Box& a, const Box& b);

// Smallest box around both, around all. `boxes` is not empty.
Box Union(const Box& a, const Box& b);
Box Union(const std::vector<Box>& boxes);

// Reading from top-left: by x0, then y0, then x1, then y1. The order in which ties are settled.
bool LeftOf(const Box& a, const Box& b);

// The value below which the share `q` (0..1) of the values lies, linear between neighbours (numpy's
// default). `values` is not empty.
double Quantile(std::vector<double> values, double q);
double Median(std::vector<double> values);

}  // namespace platen::layout
