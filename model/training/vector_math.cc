#include "model/training/vector_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

// The same operations for several instruction sets; the one that fits is chosen as the program
// starts. (Sanitizers are not ready by then.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PLATEN_FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PLATEN_FOR_EACH_CPU
#endif

namespace platen {
namespace {

constexpr int64_t kLanesAtOnce = 16;

// exp of -87 .. 0: 2^n times a polynomial of what is left, |r| <= ln 2 / 2. The coefficients are
// those of the Cephes library's expf. NaN stays NaN.
inline float Exponential(float x) {
  constexpr float kLeast = -87.0F;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: a number added to it loses its fraction
  const float within = x < kLeast ? kLeast : x;
  const float rounded = within * 1.44269504F + kRound;
  const float n = rounded - kRound;
  const float r = (within - n * 0.693359375F) - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const uint32_t exponent = std::bit_cast<uint32_t>(rounded) << 23;  // the low bits are those of n
  const float result = std::bit_cast<float>(std::bit_cast<uint32_t>(p) + exponent);
  return x == x ? result : x;
}

PLATEN_FOR_EACH_CPU double ExpSumFloat(float shift, int64_t n, float* x) {
  constexpr int64_t kPart = 2048;  // stays in the first cache between the two loops
  double lanes[kLanesAtOnce] = {};
  double rest = 0;
  for (int64_t first = 0; first < n; first += kPart) {
    const int64_t count = std::min(kPart, n - first);
    float* part = x + first;
    for (int64_t i = 0; i < count; ++i) part[i] = Exponential(part[i] - shift);
    int64_t i = 0;
    for (; i + kLanesAtOnce <= count; i += kLanesAtOnce) {
      for (int64_t j = 0; j < kLanesAtOnce; ++j) lanes[j] += static_cast<double>(part[i + j]);
    }
    for (; i < count; ++i) rest += static_cast<double>(part[i]);
  }
  for (const double lane : lanes) rest += lane;
  return rest;
}

PLATEN_FOR_EACH_CPU float LargestFloat(const float* x, int64_t n) {
  float lanes[kLanesAtOnce];
  std::fill_n(lanes, kLanesAtOnce, x[0]);
  int64_t i = 0;
  for (; i + kLanesAtOnce <= n; i += kLanesAtOnce) {
    for (int64_t j = 0; j < kLanesAtOnce; ++j) {
      lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
    }
  }
  for (; i < n; ++i) lanes[0] = x[i] > lanes[0] ? x[i] : lanes[0];
  float largest = lanes[0];
  for (const float lane : lanes) largest = lane > largest ? lane : largest;
  return largest;
}

PLATEN_FOR_EACH_CPU float DotFloat(const float* a, const float* b, int64_t n) {
  float lanes[kLanesAtOnce] = {};
  int64_t i = 0;
  for (; i + kLanesAtOnce <= n; i += kLanesAtOnce) {
    for (int64_t j = 0; j < kLanesAtOnce; ++j) lanes[j] += a[i + j] * b[i + j];
  }
  float sum = 0;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (const float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

template <>
double ExponentialsAndSum(float shift, int64_t n, float* x) {
  return ExpSumFloat(shift, n, x);
}
template <>
double ExponentialsAndSum(double shift, int64_t n, double* x) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] = std::exp(x[i] - shift);
  return sum;
}

template <>
float LargestOf(const float* x, int64_t n) {
  return LargestFloat(x, n);
}
template <>
double LargestOf(const double* x, int64_t n) {
  return *std::max_element(x, x + n);
}

template <>
float DotProduct(const float* a, const float* b, int64_t n) {
  return DotFloat(a, b, n);
}
template <>
double DotProduct(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace platen
