// Register-only peaks of AVX2 with FMA: 12 independent accumulators hide the latency.
#include <immintrin.h>
#include <time.h>

#include "bench/peaks.h"

namespace platen::bench {
namespace {

#include "bench/peak_loop.inc"

}  // namespace

// vpmaddwd and vpaddd: 16 products of 16-bit numbers, which is how bytes are multiplied exactly.
double Madd256Peak() {
  return BestRate(12 * 32.0, [](int iterations) {
    __m256i acc[12];
    for (auto& a : acc) a = _mm256_setzero_si256();
    const __m256i x = _mm256_set1_epi16(1);
    for (int i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
      for (int j = 0; j < 12; ++j) {
        __m256i product;
        asm volatile("vpmaddwd %2, %2, %1\n\tvpaddd %1, %0, %0"
                     : "+x"(acc[j]), "=&x"(product)
                     : "x"(x));
      }
    }
  });
}

double Fma256Peak() {
  return BestRate(12 * 16.0, [](int iterations) {
    __m256 acc[12];
    for (auto& a : acc) a = _mm256_setzero_ps();
    const __m256 x = _mm256_set1_ps(1.0F);
    for (int i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
      for (int j = 0; j < 12; ++j) asm volatile("vfmadd231ps %1, %1, %0" : "+x"(acc[j]) : "x"(x));
    }
  });
}

}  // namespace platen::bench
