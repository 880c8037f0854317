// Register-only peaks of AVX-512 and AMX: 24 independent accumulators hide the latency. The
// registers are named in the assembly, so that no compiler can spill them.
#include <immintrin.h>
#include <time.h>

#include <cstdint>

#include "bench/peaks.h"
#include "model/kernels/x86/tile_shapes.h"

namespace platen::bench {
namespace {

#include "bench/peak_loop.inc"

// One of the macros below once for each of zmm0 .. zmm23; their sources are zmm24.
#define PLATEN_24(one)                                                                          \
  one(0) one(1) one(2) one(3) one(4) one(5) one(6) one(7) one(8) one(9) one(10) one(11) one(12) \
      one(13) one(14) one(15) one(16) one(17) one(18) one(19) one(20) one(21) one(22) one(23)
#define PLATEN_CLOBBERED                                                                        \
  "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", "zmm10",      \
      "zmm11", "zmm12", "zmm13", "zmm14", "zmm15", "zmm16", "zmm17", "zmm18", "zmm19", "zmm20", \
      "zmm21", "zmm22", "zmm23", "zmm24", "zmm25"
// Sources of zero bits: finite, no denormals.
#define PLATEN_LOOP(one)                                                                      \
  [](int iterations) {                                                                        \
    asm volatile("vpxorq %%zmm24, %%zmm24, %%zmm24" : : : "zmm24");                           \
    for (int i = 0; i < iterations; ++i) asm volatile(PLATEN_24(one) : : : PLATEN_CLOBBERED); \
  }

#define PLATEN_DOT(r) "vpdpbusd %%zmm24, %%zmm24, %%zmm" #r "\n\t"
#define PLATEN_FMA(r) "vfmadd231ps %%zmm24, %%zmm24, %%zmm" #r "\n\t"
#define PLATEN_MADD(r)                     \
  "vpmaddwd %%zmm24, %%zmm24, %%zmm25\n\t" \
  "vpaddd %%zmm25, %%zmm" #r ", %%zmm" #r "\n\t"

}  // namespace

double VnniPeak(int runs) { return BestRate(24 * 128.0, runs, PLATEN_LOOP(PLATEN_DOT)); }

double Fma512Peak(int runs) { return BestRate(24 * 32.0, runs, PLATEN_LOOP(PLATEN_FMA)); }

// vpmaddwd and vpaddd: 32 products of 16-bit numbers, which is how bytes are multiplied exactly.
double Madd512Peak(int runs) { return BestRate(24 * 64.0, runs, PLATEN_LOOP(PLATEN_MADD)); }

using PLATEN_ISA::LoadTileShapes;
using PLATEN_ISA::TileShapes;

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

// With a load before each product, four operand tiles in turn.
double AmxLoadingPeak(int runs) {
  constexpr ptrdiff_t kStride = 64;
  alignas(64) static const uint8_t operands[4][16 * kStride] = {};
  const TileShapes shapes;
  return BestRate(4 * 16 * 16 * 64 * 2.0, runs, [&shapes](int iterations) {
    LoadTileShapes(shapes);
    for (int i = 0; i < iterations; ++i) {
      _tile_loadd(4, operands[0], kStride);
      _tile_dpbsud(0, 4, 5);
      _tile_loadd(7, operands[3], kStride);
      _tile_dpbsud(1, 4, 7);
      _tile_loadd(6, operands[2], kStride);
      _tile_dpbsud(3, 6, 7);
      _tile_loadd(5, operands[1], kStride);
      _tile_dpbsud(2, 6, 5);
    }
    _tile_release();
  });
}

}  // namespace platen::bench
