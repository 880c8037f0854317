#include "model/kernels/x86/amx_attention.h"

#include "model/kernels/kernels.h"
#include "model/kernels/tables.h"

namespace platen {

void AttentionInt8Amx(const AttentionInt8Job& job) {
  if (!PLATEN_ISA::TileAttention::Takes(job.depth())) return AttentionInt8Avx512Vnni(job);
  PLATEN_ISA::AttentionInt8OnTiles(job);
}

}  // namespace platen
