// Exponentials and sums against those of the standard library, at every length.
#include "model/training/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace platen::testing {
namespace {

template <class T>
std::vector<T> Random(size_t n, double low, double high) {
  std::mt19937_64 rng(n + 1);
  std::uniform_real_distribution<double> values(low, high);
  std::vector<T> x(n);
  for (T& value : x) value = static_cast<T>(values(rng));
  return x;
}

template <class T>
void ExpectExponentials(double tolerance) {
  for (const size_t n : {1U, 15U, 16U, 17U, 100U, 2047U, 2048U, 2049U, 59392U}) {
    std::vector<T> x = Random<T>(n, -80, 5);
    const T shift = *std::max_element(x.begin(), x.end());
    double sum = 0;
    std::vector<double> expected;
    for (const T value : x) {
      expected.push_back(std::exp(static_cast<double>(value) - static_cast<double>(shift)));
      sum += expected.back();
    }
    EXPECT_NEAR(ExponentialsAndSum<T>(shift, static_cast<int64_t>(n), x.data()) / sum, 1,
                tolerance);
    for (size_t i = 0; i < n; ++i) {
      // The difference is rounded to T before.
      ASSERT_NEAR(static_cast<double>(x[i]) / expected[i], 1, tolerance * 80) << n << ", " << i;
    }
  }
}

TEST(VectorMathTest, ExponentialsAndTheirSum) {
  ExpectExponentials<float>(2e-7);
  ExpectExponentials<double>(1e-14);
}

TEST(VectorMathTest, ExponentialsOfEverythingThatALogitCanBe) {
  std::vector<float> x = {0, -1e-30F, -87, -88, -1e3F, -1e30F, -INFINITY};
  ExponentialsAndSum<float>(0, static_cast<int64_t>(x.size()), x.data());
  EXPECT_EQ(x[0], 1);
  EXPECT_EQ(x[1], 1);
  for (size_t i = 2; i < x.size(); ++i) {
    EXPECT_GE(x[i], 0) << i;
    EXPECT_LT(x[i], 2e-38F) << i;
  }
  float bad = NAN;
  EXPECT_FALSE(std::isfinite(ExponentialsAndSum<float>(0, 1, &bad)));
}

TEST(VectorMathTest, LargestAndProduct) {
  for (size_t n = 1; n < 70; ++n) {
    const auto a = Random<float>(n, -1, 1), b = Random<float>(n + 100, -1, 1);
    EXPECT_EQ(LargestOf<float>(a.data(), static_cast<int64_t>(n)),
              *std::max_element(a.begin(), a.end()));
    double product = 0;
    for (size_t i = 0; i < n; ++i) product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    EXPECT_NEAR(DotProduct<float>(a.data(), b.data(), static_cast<int64_t>(n)), product, 1e-5);
  }
}

}  // namespace
}  // namespace platen::testing
