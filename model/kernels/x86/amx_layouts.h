// How the eight tile registers of AMX are used by the int8 product: which hold sums, activations
// and weights, and the tile instructions for 64 k.
//
// A tile has up to 16 rows of 64 bytes: 16 rows x 64 k of activations, or four k of 16 columns in
// each of 16 rows of weights, or 16 x 16 sums of 32 bits. tdpbsud adds the product of two to a
// third.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/isa.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"
#include "model/kernels/x86/tile_shapes.h"

namespace platen::PLATEN_ISA {

constexpr int kAmxRows = 16;  // of a tile
constexpr int kTileK = 64;    // k of a tile row of activations
constexpr int kWeightStride = kPanelColumns * 4;

// Operand tiles are zeroed after their last use. A core whose other hardware thread is busy gives a
// thread about ten physical tile registers, and every load and product in flight takes one; a
// zeroed tile takes none. Without such a neighbour it costs nothing.

// 32 rows x 32 columns:
//                   weights: tile 6   tile 7
//   activations: tile 4  |  tile 0  |  tile 1  |
//                tile 5  |  tile 2  |  tile 3  |
struct SquareLayout {
  static constexpr int kVectors = 2;

  static void Configure(int rows) {
    TileShapes shapes;
    const auto upper = static_cast<uint8_t>((rows + 1) / 2);
    const auto lower = static_cast<uint8_t>(rows / 2);
    const uint8_t tile_rows[8] = {upper, upper, lower, lower, upper, lower, 16, 16};
    for (int i = 0; i < 8; ++i) shapes.rows[i] = tile_rows[i];
    LoadTileShapes(shapes);
  }
  // Adds 64 k to the sums. Calls overlap(Index<0..3>), vector work that runs while the tiles
  // multiply, after each of the four tile products.
  template <class F>
  PLATEN_INLINE static void Multiply(const int8_t* a, ptrdiff_t a_stride, int rows,
                                     const uint8_t* w, F overlap) {
    _tile_loadd(4, a, a_stride);
    _tile_loadd(6, w, kWeightStride);
    _tile_dpbsud(0, 4, 6);
    overlap(Index<0>{});
    _tile_loadd(7, w + 64, kWeightStride);
    _tile_dpbsud(1, 4, 7);
    _tile_zero(4);
    overlap(Index<1>{});
    _tile_loadd(5, a + (rows + 1) / 2 * a_stride, a_stride);
    _tile_dpbsud(2, 5, 6);
    _tile_zero(6);
    overlap(Index<2>{});
    _tile_dpbsud(3, 5, 7);
    _tile_zero(5);
    _tile_zero(7);
    overlap(Index<3>{});
  }
  PLATEN_INLINE static void StoreSums(int rows, int32_t* dots) {
    constexpr int kStride = kVectors * 64;
    int32_t* lower = dots + (rows + 1) / 2 * kVectors * 16;
    _tile_stored(0, dots, kStride);
    _tile_stored(1, dots + 16, kStride);
    _tile_stored(2, lower, kStride);
    _tile_stored(3, lower + 16, kStride);
  }
};

// 16 rows x 64 columns; two tiles take turns for the weights:
//                   weights: tile 5   tile 6   tile 5   tile 6
//   activations: tile 4  |  tile 0  |  tile 1  |  tile 2  |  tile 3  |
struct WideLayout {
  static constexpr int kVectors = 4;

  static void Configure(int rows) {
    TileShapes shapes;
    for (int i = 0; i < 8; ++i) shapes.rows[i] = static_cast<uint8_t>(i < 5 ? rows : 16);
    LoadTileShapes(shapes);
  }
  template <class F>
  PLATEN_INLINE static void Multiply(const int8_t* a, ptrdiff_t a_stride, int, const uint8_t* w,
                                     F overlap) {
    _tile_loadd(4, a, a_stride);
    _tile_loadd(5, w, kWeightStride);
    _tile_dpbsud(0, 4, 5);
    _tile_zero(5);
    overlap(Index<0>{});
    _tile_loadd(6, w + 64, kWeightStride);
    _tile_dpbsud(1, 4, 6);
    _tile_zero(6);
    overlap(Index<1>{});
    _tile_loadd(5, w + 128, kWeightStride);
    _tile_dpbsud(2, 4, 5);
    _tile_zero(5);
    overlap(Index<2>{});
    _tile_loadd(6, w + 192, kWeightStride);
    _tile_dpbsud(3, 4, 6);
    _tile_zero(4);
    _tile_zero(6);
    overlap(Index<3>{});
  }
  PLATEN_INLINE static void StoreSums(int, int32_t* dots) {
    constexpr int kStride = kVectors * 64;
    _tile_stored(0, dots, kStride);
    _tile_stored(1, dots + 16, kStride);
    _tile_stored(2, dots + 32, kStride);
    _tile_stored(3, dots + 48, kStride);
  }
};

}  // namespace platen::PLATEN_ISA
