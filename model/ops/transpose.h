// Rows to columns, for values of 4 bytes: floats, pairs of bf16, fours of int8.
#pragma once

#include <cstddef>
#include <cstdint>

namespace platen {

// out[d][i] = x[i][d] for i < rows, d < columns; strides in bytes. Rows are read four at a time
// from first to last: where they come from they may lie a multiple of 4 KiB apart, and few of such
// lines fit the L1 cache at once.
void Transpose(const std::byte* x, int64_t x_stride, int rows, int columns, std::byte* out,
               int64_t out_stride);

}  // namespace platen
