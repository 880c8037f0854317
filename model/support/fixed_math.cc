#include "model/support/fixed_math.h"

#include <bit>
#include <cstdint>
#include <iterator>

namespace platen {
namespace {

constexpr double kLn2High = 0x1.62e42fee00000p-1;  // 32 bits: its products with exponents are exact
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr int kExponentBits = 52;
constexpr int64_t kBias = 1023;

// 1 / k!
constexpr double kInverseFactorial[] = {1.0,
                                        1.0,
                                        1.0 / 2,
                                        1.0 / 6,
                                        1.0 / 24,
                                        1.0 / 120,
                                        1.0 / 720,
                                        1.0 / 5040,
                                        1.0 / 40320,
                                        1.0 / 362880,
                                        1.0 / 3628800,
                                        1.0 / 39916800,
                                        1.0 / 479001600,
                                        1.0 / 6227020800.0};

}  // namespace

// exp(n ln 2 + r) = 2^n exp(r), |r| <= ln 2 / 2.
double FixedExp(double x) {
  if (!(x >= -708)) return 0;
  const double scaled = x * kInverseLn2;
  const auto n = static_cast<int64_t>(scaled + (scaled < 0 ? -0.5 : 0.5));
  const auto whole = static_cast<double>(n);
  const double r = (x - whole * kLn2High) - whole * kLn2Low;
  double sum = 0;
  for (size_t k = std::size(kInverseFactorial); k-- > 2;) sum = sum * r + kInverseFactorial[k];
  const double value = 1 + (r + r * r * sum);
  return value * std::bit_cast<double>((n + kBias) << kExponentBits);
}

// x = 2^e m, m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m - 1) / (m + 1).
double FixedLog(double x) {
  constexpr uint64_t kMantissa = (uint64_t{1} << kExponentBits) - 1;
  constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;
  const auto bits = std::bit_cast<uint64_t>(x);
  int64_t e = static_cast<int64_t>(bits >> kExponentBits) - kBias;
  double m =
      std::bit_cast<double>((bits & kMantissa) | (static_cast<uint64_t>(kBias) << kExponentBits));
  if (m > kSqrt2) {
    m *= 0.5;
    ++e;
  }
  const double f = m - 1;
  const double s = f / (m + 1);
  const double z = s * s;
  double sum = 0;
  for (int k = 21; k >= 3; k -= 2) sum = (sum + 1.0 / k) * z;
  const auto whole = static_cast<double>(e);
  // 2 s = f - s f: what is large is exact.
  return whole * kLn2High + (f - (s * (f - 2 * sum) - whole * kLn2Low));
}

// The exponential of a negative number: it cannot overflow. FixedExp is 0 for NaN.
double FixedSigmoid(double x) {
  if (x != x) return x;
  const double e = FixedExp(x < 0 ? x : -x);
  return (x < 0 ? e : 1.0) / (1 + e);
}

}  // namespace platen
