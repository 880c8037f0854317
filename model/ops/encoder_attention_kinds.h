// The kinds of encoder attention, for encoder_attention.cc.
#pragma once

#include <memory>

#include "model/ops/encoder_attention.h"

namespace platen {

// Everything in f32, as KernelTable::attention.
std::unique_ptr<EncoderAttention> MakeEncoderAttentionF32(const KernelTable& kernels, int num_heads,
                                                          int head_dim);
// In exact integers, as KernelTable::attention_int8.
std::unique_ptr<EncoderAttention> MakeEncoderAttentionInt8(const KernelTable& kernels,
                                                           int num_heads, int head_dim);

}  // namespace platen
