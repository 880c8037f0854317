// Attention of x86/amx_attention.h over tiles in software.
#pragma once

#include "model/kernels/attention_int8_job.h"

namespace platen {

bool TilesTake(int depth);  // TileAttention::Takes
// The CPU must have AVX-512 VNNI.
void AttentionInt8OnEmulatedTiles(const AttentionInt8Job& job);

}  // namespace platen
