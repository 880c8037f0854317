// Jobs of attention in exact integers: softmax(scale * q k) v of query rows over all keys of one
// head of one image. docs/NUMERICS.md has the meaning of the result, bit for bit.
//
// A row of q or of k is rotated (KernelTable::hadamard), then quantised to s8 with a scale of its
// own. Values are quantised per channel and block of 256 tokens, after the block's mean is taken
// off. Blocks begin at multiples of 256 of the image. Sizes, with d = head_dim:
//
//   depth   d rounded up to 4            stride   d rounded up to 16
//   q       [rows][depth]                k        pages [depth / 4][64 keys][4], q8 ^ 0x80
//                                        v        pages [64 / 4 tokens][stride][4]
//
//   a page of keys                                     a page of values
//                key 0              key 1                           channel 0          channel 1
//   dims 0..3 | k0 k1 k2 k3      | k0 k1 k2 k3 | ..     tokens 0..3 | v of 0, 1, 2, 3 | v of 0, ..
//   dims 4..7 | k4 k5 k6 k7      | ..                   tokens 4..7 | v of 4, 5, 6, 7 | ..
//
// The pages of a head lie one after the other. Padding of k is 0x80, that of q and v is 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/attention_job.h"

namespace platen {

constexpr int kInt8PageTokens = 64;
constexpr int kInt8BlockPages = kKeySplit / kInt8PageTokens;

// Nothing is owned. A row of q, or a head, of which a scale is not a number or out of range (that
// of a key or query from 2^20, that of a value or a mean from 2^90) gives NaN results, no other
// row.
struct AttentionInt8Job {
  int head_dim = 0;  // <= kMaxHeadDim
  float factor = 1;  // of the scores, to powers of two; Int8Factor
  int rows = 0;
  const int8_t* q = nullptr;
  const float* q_scales = nullptr;         // [rows]
  const int32_t* q_corrections = nullptr;  // [rows], -128 * sum of the row
  int keys = 0;                            // >= 1, all of which every row sees
  const uint8_t* k = nullptr;
  const float* k_scales = nullptr;  // [pages][64]
  const int8_t* v = nullptr;
  const float* v_scales = nullptr;  // [blocks][stride]; 0 where padded
  const float* v_means = nullptr;   // likewise
  float* const* out = nullptr;      // [rows] pointers to head_dim results

  int depth() const { return (head_dim + 3) / 4 * 4; }
  int stride() const { return (head_dim + 15) / 16 * 16; }
};

// Values of one block of up to kKeySplit tokens, to be quantised.
struct Int8ValuesJob {
  int head_dim = 0;
  int tokens = 0;
  const float* x = nullptr;  // [tokens][head_dim], x_stride floats apart
  ptrdiff_t x_stride = 0;
  int8_t* v = nullptr;      // pages, whole ones: the rest is set to 0
  float* scales = nullptr;  // [stride]: 128 absmax / 127; NaN where a value is not finite
  float* means = nullptr;   // [stride]
};

// Whether rows of that width are rotated by KernelTable::hadamard.
constexpr bool IsHadamardWidth(int d) { return d > 0 && (d & (d - 1)) == 0; }

// AttentionInt8Job::factor for scores that are multiplied by `scale`.
constexpr float Int8Factor(float scale, int head_dim) {
  const float to_powers_of_two = scale * 1.44269504088896341F;
  return IsHadamardWidth(head_dim) ? to_powers_of_two / static_cast<float>(head_dim)
                                   : to_powers_of_two;
}

}  // namespace platen
