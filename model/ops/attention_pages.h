// How one head's keys and values lie in the pages that attention kernels read.
#pragma once

#include <cstdint>

#include "model/kernels/kernels.h"

namespace platen {

// A page holds `tokens` keys (key_rows x tokens) and as many values (tokens x value_stride), see
// AttentionJob. Rows beyond key_width and columns beyond value_width are zero.
struct PageShape {
  KvType type = KvType::kF32;
  int tokens = 0;
  int key_width = 0;     // values of a key
  int value_width = 0;   // values of a value
  int key_rows = 0;      // >= key_width
  int value_stride = 0;  // >= value_width

  int64_t value_size() const { return type == KvType::kF32 ? 4 : 2; }
  int64_t key_bytes() const { return int64_t{key_rows} * tokens * value_size(); }
  int64_t value_bytes() const { return int64_t{value_stride} * tokens * value_size(); }
};

// Rows [count][width] of consecutive tokens, `stride` floats apart.
struct TokenRows {
  const float* x = nullptr;
  int64_t stride = 0;
  int count = 1;
};

// Write the keys, or the values, of tokens from `place` on to a page; bf16 by to_bf16. The rest of
// the page is untouched. Neighbours share cache lines: write a page at once where you can.
// Thread-safe for different places.
void WriteKeys(const KernelTable& kernels, const PageShape& shape, int place, const TokenRows& rows,
               void* keys);
void WriteValues(const KernelTable& kernels, const PageShape& shape, int place,
                 const TokenRows& rows, void* values);

}  // namespace platen
