// Size and weight of print.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "stages/formats/page_result.h"

namespace platen {

struct Print {
  double size = 0;    // x-height, pixels
  double weight = 0;  // ink in the boxes of its letters, 0..1; 0: not measured
};

// Medians over lines, by their letters. A line without a size of its own has the page's.
class PrintMeter {
 public:
  explicit PrintMeter(double page_size) : page_size_(page_size) {}

  void Add(std::span<const LineResult> lines);
  Print Medians() &&;

 private:
  double page_size_;
  std::vector<std::pair<double, double>> sizes_, weights_;  // with the letters they are of
};

Print PrintOf(std::span<const LineResult> lines, double page_size);

}  // namespace platen
