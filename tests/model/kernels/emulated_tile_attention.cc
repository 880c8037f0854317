// The code for AMX over tiles in software, compiled as it is for AVX-512.
#include <immintrin.h>

#include "tests/support/emulated_tiles.h"
// After the emulation:
#include "model/kernels/x86/amx_attention.h"
#include "tests/model/kernels/emulated_tile_attention.h"

namespace platen {

bool TilesTake(int depth) { return PLATEN_ISA::TileAttention::Takes(depth); }

void AttentionInt8OnEmulatedTiles(const AttentionInt8Job& job) {
  PLATEN_ISA::AttentionInt8OnTiles(job);
}

}  // namespace platen
