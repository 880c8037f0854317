#include "stages/kinds/print_size.h"

#include <algorithm>

namespace platen {
namespace {

double WeightedMedian(std::vector<std::pair<double, double>> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  double total = 0, seen = 0;
  for (const auto& [value, weight] : values) total += weight;
  for (const auto& [value, weight] : values) {
    seen += weight;
    if (seen >= total / 2) return value;
  }
  return values.back().first;
}

}  // namespace

void PrintMeter::Add(std::span<const LineResult> lines) {
  for (const LineResult& line : lines) {
    const auto letters = static_cast<double>(line.text.size());
    sizes_.emplace_back(line.x_height > 0 ? line.x_height : page_size_, letters);
    if (line.weight > 0) weights_.emplace_back(line.weight, letters);
  }
}

Print PrintMeter::Medians() && {
  return {WeightedMedian(std::move(sizes_)), WeightedMedian(std::move(weights_))};
}

Print PrintOf(std::span<const LineResult> lines, double page_size) {
  PrintMeter meter(page_size);
  meter.Add(lines);
  return std::move(meter).Medians();
}

}  // namespace platen
