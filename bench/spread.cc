#include "bench/spread.h"

#include <algorithm>
#include <cassert>

namespace platen::bench {

Spread SpreadOf(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

}  // namespace platen::bench
