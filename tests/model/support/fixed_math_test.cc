#include "model/support/fixed_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace platen {
namespace {

double UnitsApart(double a, double b) {
  return std::abs(a - b) / (std::nextafter(std::abs(b), INFINITY) - std::abs(b));
}

TEST(FixedMath, IsWithinTwoUnitsOfTheLibrary) {
  double worst_exp = 0, worst_log = 0;
  for (int i = 0; i <= 200000; ++i) {
    const double x = -700.0 + 1400.0 * i / 200000.0;
    worst_exp = std::max(worst_exp, UnitsApart(FixedExp(x), std::exp(x)));
    const double small = i / 200000.0 - 0.5;
    worst_exp = std::max(worst_exp, UnitsApart(FixedExp(small), std::exp(small)));
    const double y = std::exp(x);
    worst_log = std::max(worst_log, UnitsApart(FixedLog(y), std::log(y)));
    const double near_one = 1 + i * 1e-6;
    if (i > 0) worst_log = std::max(worst_log, UnitsApart(FixedLog(near_one), std::log(near_one)));
    const double below_one = 1 - (i + 0.5) * 0x1p-32;
    worst_log = std::max(worst_log, UnitsApart(FixedLog(below_one), std::log(below_one)));
  }
  EXPECT_LE(worst_exp, 2);
  EXPECT_LE(worst_log, 2);
  EXPECT_EQ(FixedExp(0), 1);
  EXPECT_EQ(FixedLog(1), 0);
  EXPECT_EQ(FixedExp(-INFINITY), 0);
  EXPECT_EQ(FixedExp(-1000), 0);
}

TEST(FixedMath, SigmoidIsThatOfItsFormula) {
  double worst = 0;
  for (int i = 0; i <= 20000; ++i) {
    const double x = -50.0 + i / 200.0;
    const double expected = 1 / (1 + std::exp(-x));
    worst = std::max(worst, std::abs(FixedSigmoid(x) - expected) / expected);
  }
  EXPECT_LE(worst, 1e-15);
  EXPECT_EQ(FixedSigmoid(0), 0.5);
  EXPECT_EQ(FixedSigmoid(1e300), 1);
  EXPECT_EQ(FixedSigmoid(-1e300), 0);
  EXPECT_TRUE(std::isnan(FixedSigmoid(NAN)));
}

}  // namespace
}  // namespace platen
