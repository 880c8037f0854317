// Attention in exact integers on AMX: 16 query rows x 64 keys, or channels, in four tiles of sums.
// The rest is generic/attention_int8.h.
//
//               tile 5: 16 keys, then the next 16, ..        tile 7: 64 keys x 16 channels, ..
//   tile 4: q  |  tile 0  |  tile 1  |  2  |  3  |   tile 6: p  |  tile 0  |  1  |  2  |  3  |
//
// Pages of keys and of values are tiles as they lie in memory: 16 rows of fours of the depth, or of
// fours of keys.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/attention_int8_job.h"
#include "model/kernels/generic/attention_int8.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"
#include "model/kernels/x86/tile_shapes.h"

namespace platen::PLATEN_ISA {

constexpr int kTileDepth = 64;  // bytes of a tile row

struct TileAttention {
  static constexpr int kRows = 16;
  static constexpr ptrdiff_t kSumsStride = kPanelColumns * 4;

  // Whether heads of that width can be done.
  static bool Takes(int depth) { return depth <= kTileDepth || depth % kTileDepth == 0; }

  // For a job's rows of so many bytes; to be ended by _tile_release.
  static void Configure(int depth) {
    TileShapes shapes;
    if (depth < kTileDepth) {
      shapes.bytes_per_row[4] = static_cast<uint16_t>(depth);
      shapes.rows[5] = static_cast<uint8_t>(depth / 4);
    }
    LoadTileShapes(shapes);
  }

  // Sums of a page of keys (SummedProducts). Rows that a block lacks are zeros.
  PLATEN_INLINE static void Group(int rows, const int8_t* q, ptrdiff_t depth,
                                  const int32_t* corrections, int correction_stride,
                                  const uint8_t* page, int k4, int /*prefetch_streams*/,
                                  int32_t* sums) {
    alignas(64) int8_t padded[kRows * kMaxHeadDim];
    alignas(64) int32_t start[kRows * 16];
    for (int r = 0; r < kRows; ++r) {
      const int32_t first = r < rows ? corrections[r * correction_stride] : 0;
      _mm512_store_si512(start + r * 16, _mm512_set1_epi32(first));
    }
    if (rows < kRows) {
      __builtin_memcpy(padded, q, static_cast<size_t>(rows * depth));
      __builtin_memset(padded + rows * depth, 0, static_cast<size_t>((kRows - rows) * depth));
      q = padded;
    }
    MemoryIsRead();
    _tile_loadd(0, start, 64);
    _tile_loadd(1, start, 64);
    _tile_loadd(2, start, 64);
    _tile_loadd(3, start, 64);
    for (int d = 0; d < k4 * 4; d += kTileDepth) {
      const uint8_t* keys = page + static_cast<ptrdiff_t>(d) * kInt8PageTokens;
      _tile_loadd(4, q + d, depth);
      _tile_loadd(5, keys, kSumsStride);
      _tile_dpbsud(0, 4, 5);
      _tile_loadd(5, keys + 64, kSumsStride);
      _tile_dpbsud(1, 4, 5);
      _tile_loadd(5, keys + 128, kSumsStride);
      _tile_dpbsud(2, 4, 5);
      _tile_loadd(5, keys + 192, kSumsStride);
      _tile_dpbsud(3, 4, 5);
    }
    Store(sums);
  }

  // Sums of up to 64 channels (SummedProducts). Probabilities and values are zeros up to a multiple
  // of 64 keys; rows of p that a block lacks are whatever is there, and so are their sums.
  PLATEN_INLINE static void Values(int /*rows*/, const uint8_t* p, const int8_t* values, int stride,
                                   int keys, int columns, int32_t* sums) {
    const ptrdiff_t row_bytes = static_cast<ptrdiff_t>(stride) * 4;
    MemoryIsRead();
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int key = 0; key < keys; key += kInt8PageTokens) {
      const int8_t* v = values + static_cast<ptrdiff_t>(key) * stride;
      _tile_loadd(6, p + key, kKeySplit);
      _tile_loadd(7, v, row_bytes);
      _tile_dpbusd(0, 6, 7);
      if (columns > 16) {
        _tile_loadd(7, v + 64, row_bytes);
        _tile_dpbusd(1, 6, 7);
      }
      if (columns > 32) {
        _tile_loadd(7, v + 128, row_bytes);
        _tile_dpbusd(2, 6, 7);
      }
      if (columns > 48) {
        _tile_loadd(7, v + 192, row_bytes);
        _tile_dpbusd(3, 6, 7);
      }
    }
    Store(sums);
  }

 private:
  // GCC does not say that _tile_loadd reads memory: what was stored before might come later.
  PLATEN_INLINE static void MemoryIsRead() { __asm__ volatile("" : : : "memory"); }

  // Operand tiles are zeroed after their last use (x86/amx_layouts.h says why).
  PLATEN_INLINE static void Store(int32_t* sums) {
    _tile_stored(0, sums, kSumsStride);
    _tile_stored(1, sums + 16, kSumsStride);
    _tile_stored(2, sums + 32, kSumsStride);
    _tile_stored(3, sums + 48, kSumsStride);
    _tile_zero(4);
    _tile_zero(5);
    _tile_zero(6);
    _tile_zero(7);
  }
};

// A job whose depth TileAttention takes.
inline void AttentionInt8OnTiles(const AttentionInt8Job& job) {
  TileAttention::Configure(job.depth());
  AttentionInt8<SummedProducts<TileAttention>>(job);
  _tile_release();
}

}  // namespace platen::PLATEN_ISA
