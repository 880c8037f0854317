// What the kernels of attention are held to: plain doubles, and the scalar kernel bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "model/kernels/kernels.h"
#include "tests/model/kernels/framed.h"

namespace platen {

// Vectors of one length, one behind the other.
struct PlainRows {
  const float* data;
  int width;
  const float* operator[](int row) const { return data + row * width; }
};

// Dimension `i` of what query `q` gets from the first `count` keys and values, in doubles.
inline double ExactAttention(const float* q, PlainRows keys, PlainRows values, int count,
                             float scale, int i) {
  std::vector<double> p(static_cast<size_t>(count));
  for (int t = 0; t < count; ++t) {
    for (int d = 0; d < keys.width; ++d) p[t] += scale * static_cast<double>(q[d]) * keys[t][d];
  }
  const double max = *std::ranges::max_element(p);
  double sum = 0, value = 0;
  for (int t = 0; t < count; ++t) {
    const double e = std::exp(p[t] - max);
    sum += e;
    value += e * values[t][i];
  }
  return value / sum;
}

// Each table, for all rows at once and for few, gives the bits of the scalar one, and that is near
// doubles. `Setup`: `context` of each row; `result_width`; `Run(table, first, rows)`, the results
// of rows; `Exact(row, i)`.
template <typename Setup>
void ExpectDoublesAndSameBits(const Setup& s, const std::string& what) {
  const int rows = static_cast<int>(s.context.size());
  const int width = s.result_width();
  const std::vector<float> expected = s.Run(*FindKernels("scalar"), 0, rows);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < width; ++i) {
      ASSERT_NEAR(expected[r * width + i], s.Exact(r, i), 1e-5) << what << " row " << r;
    }
  }
  for (const KernelTable* table : Tables()) {
    const std::vector<float> actual = s.Run(*table, 0, rows);
    EXPECT_EQ(std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(float)), 0)
        << table->name << what;
    for (const int few : {1, 2, 3, 5, 6}) {  // each has its own tiles
      for (int r = 0; r + few <= rows; ++r) {
        const std::vector<float> some = s.Run(*table, r, few);
        EXPECT_EQ(
            std::memcmp(some.data(), expected.data() + r * width, some.size() * sizeof(float)), 0)
            << table->name << what << " rows " << r << " .. " << r + few - 1;
      }
    }
  }
}

}  // namespace platen
