// Shapes of the eight tile registers of AMX. For files compiled with -mamx-tile.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "model/kernels/generic/isa.h"

namespace platen::PLATEN_ISA {

struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// GCC's _tile_loadconfig declares that it reads eight bytes; without the empty assembly GCC may
// remove the stores to the others.
[[gnu::always_inline]] inline void LoadTileShapes(const TileShapes& shapes) {
  __asm__ volatile("" : : "m"(shapes));
  _tile_loadconfig(&shapes);
}

}  // namespace platen::PLATEN_ISA
