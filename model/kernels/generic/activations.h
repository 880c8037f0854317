// Exponential, reciprocal, SiLU and GELU over F32x16.
#pragma once

#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/unroll.h"

namespace platen::PLATEN_ISA {

constexpr float kLog2E = 1.44269504088896341F;
constexpr float kRoundingShift = 12582912.0F;  // 1.5 * 2^23: x + this has round(x) in its low bits
constexpr float kLn2High = 0.693359375F;       // ln 2 in two parts (Cody and Waite)
constexpr float kLn2Low = -2.12194440e-4F;

// exp(x), x clamped to [-87, 88]; about 1 ulp. Polynomial: Cephes expf.
PLATEN_INLINE F32x16 Exp(F32x16 x) {
  x = Min(Max(x, Set1(-87.0F)), Set1(88.0F));
  const F32x16 n = Round(Mul(x, Set1(kLog2E)));
  F32x16 r = Fma(n, Set1(-kLn2High), x);
  r = Fma(n, Set1(-kLn2Low), r);
  F32x16 p = Set1(1.9875691500e-4F);
  p = Fma(p, r, Set1(1.3981999507e-3F));
  p = Fma(p, r, Set1(8.3334519073e-3F));
  p = Fma(p, r, Set1(4.1665795894e-2F));
  p = Fma(p, r, Set1(1.6666665459e-1F));
  p = Fma(p, r, Set1(5.0000001201e-1F));
  p = Fma(Mul(p, r), r, r);
  return Mul(Add(p, Set1(1.0F)), Pow2(n));
}

// 2^x for x in [-125, 125]; relative error 1.7e-7. Polynomial of degree 5 (minimax) on [-1/2, 1/2],
// exactly 1 at 0.
PLATEN_INLINE F32x16 Exp2InRange(F32x16 x) {
  const F32x16 shifted = Add(x, Set1(kRoundingShift));
  const F32x16 r = Sub(x, Sub(shifted, Set1(kRoundingShift)));
  F32x16 p = Set1(1.3264727e-3F);
  p = Fma(p, r, Set1(9.671513e-3F));
  p = Fma(p, r, Set1(5.5507336e-2F));
  p = Fma(p, r, Set1(2.4022242e-1F));
  p = Fma(p, r, Set1(6.93147e-1F));
  p = Fma(p, r, Set1(1.0F));
  return AddToExponent(p, shifted);
}

// 1 / x for x in [2^-120, 2^120], about 1 ulp. A division takes 16 cycles on AVX-512, this 4. Each
// step cubes the error: with e = 1 - x r, 1 / x = r (1 + e + e^2 + ...).
PLATEN_INLINE F32x16 Reciprocal(F32x16 x) {
  F32x16 r = GuessReciprocal(x);
  const F32x16 minus_x = Sub(Set1(0.0F), x);
  Unroll<2>([&](auto) __attribute__((always_inline)) {
    const F32x16 e = Fma(minus_x, r, Set1(1.0F));
    r = Fma(r, Fma(e, e, e), r);
  });
  return r;
}

// x / (1 + exp(-x)). Below x = -69 the exponential is clamped to e^69, and the result is x * 1e-30.
PLATEN_INLINE F32x16 Silu(F32x16 x) {
  const F32x16 exponent = Mul(x, Set1(-kLog2E));
  const F32x16 e = Exp2InRange(Min(Max(exponent, Set1(-100.0F)), Set1(100.0F)));
  return Mul(x, Reciprocal(Add(Set1(1.0F), e)));
}

// Complementary error function for z >= 0, relative error 1.2e-7 (Chebyshev fit, Numerical
// Recipes).
PLATEN_INLINE F32x16 ErfcOfPositive(F32x16 z) {
  const F32x16 t = Div(Set1(1.0F), Fma(Set1(0.5F), z, Set1(1.0F)));
  F32x16 p = Set1(0.17087277F);
  p = Fma(p, t, Set1(-0.82215223F));
  p = Fma(p, t, Set1(1.48851587F));
  p = Fma(p, t, Set1(-1.13520398F));
  p = Fma(p, t, Set1(0.27886807F));
  p = Fma(p, t, Set1(-0.18628806F));
  p = Fma(p, t, Set1(0.09678418F));
  p = Fma(p, t, Set1(0.37409196F));
  p = Fma(p, t, Set1(1.00002368F));
  p = Fma(p, t, Set1(-1.26551223F));
  return Mul(t, Exp(Fma(Sub(Set1(0.0F), z), z, p)));
}

// x * Phi(x) with the exact normal distribution: 0.5 * x * erfc(-x / sqrt(2)).
PLATEN_INLINE F32x16 Gelu(F32x16 x) {
  const F32x16 zero = Set1(0.0F);
  const F32x16 magnitude = Mul(Max(x, Sub(zero, x)), Set1(0.70710678118654752F));
  const F32x16 half_erfc = Mul(Set1(0.5F), ErfcOfPositive(magnitude));
  // Phi(|x|) = 1 - half_erfc; x * Phi(x) = max(x, 0) - |x| * half_erfc for both signs.
  const F32x16 absolute = Max(x, Sub(zero, x));
  return Fma(Sub(zero, absolute), half_erfc, Max(x, zero));
}

}  // namespace platen::PLATEN_ISA
