// The tile registers of AMX in software, as Intel's manual defines them, so that code written for
// them can be run on any CPU. Include it after <immintrin.h> and before the code; the intrinsics in
// that translation unit then mean these. One set of registers a thread.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace platen::testing {

struct EmulatedTiles {
  struct Tile {
    int rows = 0, bytes = 0;
    uint8_t at[16][64] = {};
  };
  Tile tiles[8];

  static EmulatedTiles& OfThread() {
    thread_local EmulatedTiles tiles;
    return tiles;
  }

  // The palette of 64 bytes: bytes a row of 16 bits from byte 16 on, rows of 8 bits from 48 on.
  void Configure(const void* config) {
    const auto* bytes = static_cast<const uint8_t*>(config);
    if (bytes[0] != 1) throw std::logic_error("palette");
    for (int t = 0; t < 8; ++t) {
      uint16_t row_bytes = 0;
      std::memcpy(&row_bytes, bytes + 16 + 2 * t, 2);
      tiles[t] = {};
      tiles[t].bytes = row_bytes;
      tiles[t].rows = bytes[48 + t];
      if (tiles[t].bytes > 64 || tiles[t].rows > 16) throw std::logic_error("tile shape");
    }
  }
  void Release() { *this = {}; }
  Tile& Used(int t) {
    if (tiles[t].rows == 0) throw std::logic_error("tile without a shape");
    return tiles[t];
  }

  void Zero(int t) { std::memset(Used(t).at, 0, sizeof(tiles[t].at)); }
  void Load(int t, const void* from, ptrdiff_t stride) {
    Zero(t);
    for (int r = 0; r < tiles[t].rows; ++r) {
      std::memcpy(tiles[t].at[r], static_cast<const uint8_t*>(from) + r * stride,
                  static_cast<size_t>(tiles[t].bytes));
    }
  }
  void Store(int t, void* to, ptrdiff_t stride) {
    for (int r = 0; r < Used(t).rows; ++r) {
      std::memcpy(static_cast<uint8_t*>(to) + r * stride, tiles[t].at[r],
                  static_cast<size_t>(tiles[t].bytes));
    }
  }
  // c += a b; A and B: the types of the bytes of a and of b.
  template <class A, class B>
  void Dot(int c, int a, int b) {
    const Tile &left = Used(a), &right = Used(b);
    Tile& sums = Used(c);
    if (left.rows != sums.rows || left.bytes / 4 != right.rows || right.bytes != sums.bytes) {
      throw std::logic_error("tile shapes do not fit");
    }
    for (int m = 0; m < sums.rows; ++m) {
      for (int n = 0; n < sums.bytes / 4; ++n) {
        int32_t sum = 0;
        std::memcpy(&sum, sums.at[m] + 4 * n, 4);
        for (int k = 0; k < left.bytes; ++k) {
          sum += static_cast<A>(left.at[m][k]) * static_cast<B>(right.at[k / 4][4 * n + k % 4]);
        }
        std::memcpy(sums.at[m] + 4 * n, &sum, 4);
      }
    }
  }
};

}  // namespace platen::testing

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbsud
#undef _tile_dpbusd
#define PLATEN_TILES platen::testing::EmulatedTiles::OfThread()
#define _tile_loadconfig(config) PLATEN_TILES.Configure(config)
#define _tile_release() PLATEN_TILES.Release()
#define _tile_zero(t) PLATEN_TILES.Zero(t)
#define _tile_loadd(t, from, stride) PLATEN_TILES.Load(t, from, stride)
#define _tile_stored(t, to, stride) PLATEN_TILES.Store(t, to, stride)
#define _tile_dpbsud(c, a, b) (PLATEN_TILES.Dot<int8_t, uint8_t>(c, a, b))
#define _tile_dpbusd(c, a, b) (PLATEN_TILES.Dot<uint8_t, int8_t>(c, a, b))
