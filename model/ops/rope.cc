#include "model/ops/rope.h"

#include <cassert>
#include <cmath>
#include <cstdint>

namespace platen {
namespace {

// pi / 2 in three parts (Cody and Waite): products with integers below 2^20 are exact in the first
// two.
constexpr double kHalfPi1 = 1.57079632673412561417e+00;
constexpr double kHalfPi2 = 6.07710050630396597660e-11;
constexpr double kHalfPi3 = 2.02226624879595063154e-21;

// Taylor polynomials on [-pi/4, pi/4]; the first neglected term is below 1e-17.
double SinPolynomial(double r) {
  const double z = r * r;
  double p = -1.0 / 1307674368000.0;
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800.0;
  p = p * z + 1.0 / 362880.0;
  p = p * z - 1.0 / 5040.0;
  p = p * z + 1.0 / 120.0;
  p = p * z - 1.0 / 6.0;
  return r + r * z * p;
}

double CosPolynomial(double r) {
  const double z = r * r;
  double p = 1.0 / 20922789888000.0;
  p = p * z - 1.0 / 87178291200.0;
  p = p * z + 1.0 / 479001600.0;
  p = p * z - 1.0 / 3628800.0;
  p = p * z + 1.0 / 40320.0;
  p = p * z - 1.0 / 720.0;
  p = p * z + 1.0 / 24.0;
  return 1.0 - 0.5 * z + z * z * p;
}

}  // namespace

SinCos ExactSinCos(float angle) {
  const double x = angle;
  const double quarter_turns = std::nearbyint(x * (2.0 / 3.14159265358979323846));
  const double r =
      ((x - quarter_turns * kHalfPi1) - quarter_turns * kHalfPi2) - quarter_turns * kHalfPi3;
  const double s = SinPolynomial(r);
  const double c = CosPolynomial(r);
  switch (static_cast<int64_t>(quarter_turns) & 3) {
    case 0:
      return {static_cast<float>(s), static_cast<float>(c)};
    case 1:
      return {static_cast<float>(c), static_cast<float>(-s)};
    case 2:
      return {static_cast<float>(-s), static_cast<float>(-c)};
    default:
      return {static_cast<float>(-c), static_cast<float>(s)};
  }
}

std::vector<float> InverseFrequencies(double theta, int dims) {
  std::vector<float> frequencies(static_cast<size_t>(dims / 2));
  for (int i = 0; i < dims / 2; ++i) {
    // The reference computes theta^x and its inverse in f32.
    const auto exponent = static_cast<float>(2 * i) / static_cast<float>(dims);
    const auto power = static_cast<float>(std::pow(theta, static_cast<double>(exponent)));
    frequencies[static_cast<size_t>(i)] = 1.0F / power;
  }
  return frequencies;
}

void FillMropeTables(std::span<const float> inverse_frequencies, std::array<int, 3> section,
                     std::array<std::span<const int32_t>, 3> positions, MatView cos, MatView sin) {
  const int pairs = section[0] + section[1] + section[2];
  assert(static_cast<size_t>(pairs) == inverse_frequencies.size() && cos.cols == 2 * pairs);
  for (int64_t r = 0; r < cos.rows; ++r) {
    int axis = 0;
    int section_end = section[0];
    for (int i = 0; i < pairs; ++i) {
      while (i == section_end) section_end += section[static_cast<size_t>(++axis)];
      const auto position = static_cast<float>(positions[static_cast<size_t>(axis)][r]);
      const SinCos value = ExactSinCos(position * inverse_frequencies[static_cast<size_t>(i)]);
      cos.Row(r)[2 * i] = cos.Row(r)[2 * i + 1] = value.cos;
      sin.Row(r)[2 * i] = -value.sin;
      sin.Row(r)[2 * i + 1] = value.sin;
    }
  }
}

void FillVisionRopeTables(std::span<const float> inverse_frequencies, int rows, int cols,
                          MatView cos, MatView sin) {
  const auto n = static_cast<int64_t>(inverse_frequencies.size());
  assert(cos.rows == static_cast<int64_t>(rows) * cols && cos.cols == 2 * n);
  int64_t patch = 0;
  for (int block = 0; block < rows * cols / 4; ++block) {
    for (int inner = 0; inner < 4; ++inner, ++patch) {
      const int row = block / (cols / 2) * 2 + inner / 2;
      const int col = block % (cols / 2) * 2 + inner % 2;
      for (int64_t i = 0; i < n; ++i) {
        const float f = inverse_frequencies[static_cast<size_t>(i)];
        const SinCos by_row = ExactSinCos(static_cast<float>(row) * f);
        const SinCos by_col = ExactSinCos(static_cast<float>(col) * f);
        cos.Row(patch)[i] = by_row.cos;
        cos.Row(patch)[i + n] = by_col.cos;
        sin.Row(patch)[i] = by_row.sin;
        sin.Row(patch)[i + n] = by_col.sin;
      }
    }
  }
}

}  // namespace platen
