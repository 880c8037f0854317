// Register-only peaks of AVX-512: 24 independent accumulators hide the latency.
#include <immintrin.h>
#include <time.h>

#include "bench/peaks.h"

namespace platen::bench {
namespace {

#include "bench/peak_loop.inc"

}  // namespace

double VnniPeak() {
  return BestRate(24 * 128.0, [](int iterations) {
    __m512i acc[24];
    for (auto& a : acc) a = _mm512_setzero_si512();
    const __m512i x = _mm512_set1_epi8(1);
    for (int i = 0; i < iterations; ++i) {
#pragma GCC unroll 24
      for (int j = 0; j < 24; ++j) asm volatile("vpdpbusd %1, %1, %0" : "+v"(acc[j]) : "v"(x));
    }
  });
}

double Fma512Peak() {
  return BestRate(24 * 32.0, [](int iterations) {
    __m512 acc[24];
    for (auto& a : acc) a = _mm512_setzero_ps();
    const __m512 x = _mm512_set1_ps(1.0F);
    for (int i = 0; i < iterations; ++i) {
#pragma GCC unroll 24
      for (int j = 0; j < 24; ++j) asm volatile("vfmadd231ps %1, %1, %0" : "+v"(acc[j]) : "v"(x));
    }
  });
}

}  // namespace platen::bench
