// Register-only peaks of AVX2 with FMA: 12 independent accumulators hide the latency. The registers
// are named in the assembly, so that no compiler can spill them.
#include <immintrin.h>
#include <time.h>

#include "bench/peaks.h"

namespace platen::bench {
namespace {

#include "bench/peak_loop.inc"

#define PLATEN_12(one) \
  one(0) one(1) one(2) one(3) one(4) one(5) one(6) one(7) one(8) one(9) one(10) one(11)
#define PLATEN_CLOBBERED                                                                   \
  "ymm0", "ymm1", "ymm2", "ymm3", "ymm4", "ymm5", "ymm6", "ymm7", "ymm8", "ymm9", "ymm10", \
      "ymm11", "ymm12", "ymm13"
// Sources of zero bits: finite, no denormals.
#define PLATEN_LOOP(one)                                                                      \
  [](int iterations) {                                                                        \
    asm volatile("vpxor %%ymm12, %%ymm12, %%ymm12" : : : "ymm12");                            \
    for (int i = 0; i < iterations; ++i) asm volatile(PLATEN_12(one) : : : PLATEN_CLOBBERED); \
  }

#define PLATEN_MADD(r)                     \
  "vpmaddwd %%ymm12, %%ymm12, %%ymm13\n\t" \
  "vpaddd %%ymm13, %%ymm" #r ", %%ymm" #r "\n\t"
// In the encoding of AVX-VNNI; the caller has seen that the CPU has it.
#define PLATEN_DOT(r) "%{vex%} vpdpbusd %%ymm12, %%ymm12, %%ymm" #r "\n\t"
#define PLATEN_FMA(r) "vfmadd231ps %%ymm12, %%ymm12, %%ymm" #r "\n\t"

}  // namespace

// vpmaddwd and vpaddd: 16 products of 16-bit numbers, which is how bytes are multiplied exactly.
double Madd256Peak(int runs) { return BestRate(12 * 32.0, runs, PLATEN_LOOP(PLATEN_MADD)); }

double Vnni256Peak(int runs) { return BestRate(12 * 64.0, runs, PLATEN_LOOP(PLATEN_DOT)); }

double Fma256Peak(int runs) { return BestRate(12 * 16.0, runs, PLATEN_LOOP(PLATEN_FMA)); }

namespace {

// Reads `bytes` in kStreams streams, every line of each prefetched kAhead bytes earlier.
template <size_t kStreams, _mm_hint kInto>
uint64_t ReadStreams(const uint8_t* memory, size_t bytes) {
  constexpr size_t kLine = 64, kAhead = 1024;
  const size_t length = bytes / kStreams;
  __m256i sum = _mm256_setzero_si256();
  for (size_t i = 0; i < length; i += kLine) {
    for (size_t s = 0; s < kStreams; ++s) {
      const uint8_t* line = memory + s * length + i;
      _mm_prefetch(reinterpret_cast<const char*>(line) + kAhead, kInto);
      const __m256i first = _mm256_load_si256(reinterpret_cast<const __m256i*>(line));
      const __m256i second = _mm256_load_si256(reinterpret_cast<const __m256i*>(line) + 1);
      sum = _mm256_or_si256(sum, _mm256_or_si256(first, second));
    }
  }
  return static_cast<uint64_t>(_mm256_extract_epi64(sum, 0));
}

}  // namespace

uint64_t ReadOneStream256(const uint8_t* memory, size_t bytes) {
  return ReadStreams<1, _MM_HINT_T1>(memory, bytes);
}
uint64_t ReadFourStreams256(const uint8_t* memory, size_t bytes) {
  return ReadStreams<4, _MM_HINT_T0>(memory, bytes);
}

}  // namespace platen::bench
