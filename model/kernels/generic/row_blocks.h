// Splitting rows evenly into blocks.
#pragma once

#include "model/kernels/generic/lanes.h"

namespace platen::PLATEN_ISA {

// How many blocks of at most kTileRows rows.
PLATEN_INLINE int BlockCount(int rows) { return (rows + kTileRows - 1) / kTileRows; }
// First row of block `i` when `rows` are split evenly into `blocks`.
PLATEN_INLINE int BlockStart(int rows, int blocks, int i) {
  return static_cast<int>(static_cast<long>(rows) * i / blocks);
}

}  // namespace platen::PLATEN_ISA
