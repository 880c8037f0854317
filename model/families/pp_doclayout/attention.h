// Attention among the rows of one map or set of queries.
#pragma once

#include "model/families/pp_doclayout/modules.h"
#include "model/ops/encoder_attention.h"
#include "model/ops/linear.h"

namespace platen::pp_doclayout {

struct AttentionMemory {
  Mat placed;  // rows with their positions
  Mat qk, v;
  EncoderAttentionMemory heads;
};

// x += attention(queries and keys of x + positions, values of x). x, positions [T, width].
void AddSelfAttention(const KernelTable& kernels, const AttentionWeights& w, int num_heads,
                      ConstMatView positions, MatView x, LinearWorkspace& linear,
                      AttentionMemory& memory);

// y = x + positions
void AddRows(ConstMatView x, ConstMatView positions, MatView y);

// x = LayerNorm(x)
void Normalise(const KernelTable& kernels, const LayerNormWeights& w, float eps, MatView x);

}  // namespace platen::pp_doclayout
