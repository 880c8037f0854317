// Repeated measurements of one thing.
#pragma once

#include <vector>

namespace platen::bench {

struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
};

// Of at least one value; of an even number of them the upper median.
Spread SpreadOf(std::vector<double> values);

}  // namespace platen::bench
