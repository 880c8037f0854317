// Exponentials and sums against those of the standard library, at every length.
#include "model/training/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string_view>
#include <vector>

#include "model/support/hash.h"

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

// exp of -87 .. 0 in steps of the same size.
constexpr int kSweep = 1 << 20;
float Swept(int i) { return -87.0F * static_cast<float>(i) / kSweep; }
std::vector<float> SweptExponentials() {
  std::vector<float> x(kSweep);
  for (int i = 0; i < kSweep; ++i) x[static_cast<size_t>(i)] = Swept(i);
  ExponentialsAndSum<float>(0, kSweep, x.data());
  return x;
}

// Rounding errors are as often up as down; a wrong coefficient moves all results of a remainder the
// same way. So the mean of each of 32 intervals of it says more than the largest error.
TEST(VectorMathTest, ExponentialsAreExactToAUnitInTheLastPlace) {
  const std::vector<float> results = SweptExponentials();
  constexpr int kIntervals = 32;
  std::array<long double, kIntervals> sums = {};
  std::array<int, kIntervals> counts = {};
  long double largest = 0;
  for (int i = 0; i < kSweep; ++i) {
    const auto x = static_cast<long double>(Swept(i));
    const long double expected = std::exp(x);
    int exponent = 0;
    std::frexp(expected, &exponent);
    const long double unit = std::ldexp(1.0L, exponent - 24);
    const long double error =
        (static_cast<long double>(results[static_cast<size_t>(i)]) - expected) / unit;
    largest = std::max(largest, std::fabs(error));
    const long double power = x / std::log(2.0L);
    const long double rest = power - std::round(power) + 0.5L;  // 0 .. 1
    const auto at = std::min<size_t>(kIntervals - 1, static_cast<size_t>(rest * kIntervals));
    sums[at] += error;
    ++counts[at];
  }
  EXPECT_LT(largest, 1.0L);
  for (size_t i = 0; i < kIntervals; ++i) {
    ASSERT_GT(counts[i], kSweep / kIntervals / 2);
    EXPECT_LT(std::fabs(sums[i] / counts[i]), 0.04L) << "interval " << i;
  }
}

// Losses and gradients are the same bits on every CPU only if these are. Of the coefficients, it
// notices each change that changes one of a million results.
TEST(VectorMathTest, ExponentialsAreTheSameBitsOnEveryCpu) {
  const std::vector<float> results = SweptExponentials();
  const std::string_view bytes(reinterpret_cast<const char*>(results.data()),
                               results.size() * sizeof(float));
  EXPECT_EQ(Hash64(bytes, 0), 0x3331a2dd88e1d86cULL);
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
