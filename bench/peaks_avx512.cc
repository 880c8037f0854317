// Register-only peaks of AVX-512 and AMX: 24 independent accumulators hide the latency. The
// registers are named in the assembly, so that no compiler can spill them.
#include <immintrin.h>
#include <time.h>

#include <cstdint>

#include "bench/peaks.h"

namespace platen::bench {
namespace {

#include "bench/peak_loop.inc"

// The instruction once for each of zmm0 .. zmm23, with zmm24 as both sources.
#define PLATEN_ONE(op, r) op " %%zmm24, %%zmm24, %%zmm" #r "\n\t"
#define PLATEN_24(op)                                                                             \
  PLATEN_ONE(op, 0)                                                                               \
  PLATEN_ONE(op, 1)                                                                               \
  PLATEN_ONE(op, 2) PLATEN_ONE(op, 3) PLATEN_ONE(op, 4) PLATEN_ONE(op, 5) PLATEN_ONE(op, 6)       \
      PLATEN_ONE(op, 7) PLATEN_ONE(op, 8) PLATEN_ONE(op, 9) PLATEN_ONE(op, 10) PLATEN_ONE(op, 11) \
          PLATEN_ONE(op, 12) PLATEN_ONE(op, 13) PLATEN_ONE(op, 14) PLATEN_ONE(op, 15)             \
              PLATEN_ONE(op, 16) PLATEN_ONE(op, 17) PLATEN_ONE(op, 18) PLATEN_ONE(op, 19)         \
                  PLATEN_ONE(op, 20) PLATEN_ONE(op, 21) PLATEN_ONE(op, 22) PLATEN_ONE(op, 23)
#define PLATEN_CLOBBERED                                                                        \
  "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", "zmm10",      \
      "zmm11", "zmm12", "zmm13", "zmm14", "zmm15", "zmm16", "zmm17", "zmm18", "zmm19", "zmm20", \
      "zmm21", "zmm22", "zmm23", "zmm24"
// Sources of zero bits: finite, no denormals.
#define PLATEN_LOOP(op)                                                                      \
  [](int iterations) {                                                                       \
    asm volatile("vpxorq %%zmm24, %%zmm24, %%zmm24" : : : "zmm24");                          \
    for (int i = 0; i < iterations; ++i) asm volatile(PLATEN_24(op) : : : PLATEN_CLOBBERED); \
  }

}  // namespace

double VnniPeak(int runs) { return BestRate(24 * 128.0, runs, PLATEN_LOOP("vpdpbusd")); }

double Fma512Peak(int runs) { return BestRate(24 * 32.0, runs, PLATEN_LOOP("vfmadd231ps")); }

double Bf16DotPeak(int runs) { return BestRate(24 * 64.0, runs, PLATEN_LOOP("vdpbf16ps")); }

namespace {

#include "model/kernels/tile_shapes.inc"

}  // namespace

// Four independent sums of 16 x 16 outputs over 64 k. The dispatcher has asked for the tiles.
double AmxPeak(int runs) {
  const TileShapes shapes;
  return BestRate(4 * 16 * 16 * 64 * 2.0, runs, [&shapes](int iterations) {
    LoadTileShapes(shapes);
    for (int i = 0; i < iterations; ++i) {
      _tile_dpbsud(0, 4, 5);
      _tile_dpbsud(1, 4, 7);
      _tile_dpbsud(2, 6, 5);
      _tile_dpbsud(3, 6, 7);
    }
    _tile_release();
  });
}

// The same over 32 k in bf16.
double AmxBf16Peak(int runs) {
  const TileShapes shapes;
  return BestRate(4 * 16 * 16 * 32 * 2.0, runs, [&shapes](int iterations) {
    LoadTileShapes(shapes);
    for (int i = 0; i < iterations; ++i) {
      _tile_dpbf16ps(0, 4, 5);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(2, 6, 5);
      _tile_dpbf16ps(3, 6, 7);
    }
    _tile_release();
  });
}

}  // namespace platen::bench
