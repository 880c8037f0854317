// Attention in exact integers (attention_int8_job.h) over F32x16. The two products are a template
// parameter; between them stand no sums whose order could matter:
//
// Per query row and block of 256 keys: t = float(q8 k8) * key scale, T = the largest t; with
// x = (t - T) * query scale, e = round(32640 * 2^x) and p = (e + 64) >> 7 are the probability to 15
// and to 8 bits; L = sum of e. The block's result is (sum of p v8) * value scale + L * mean, and
// blocks are joined in f32 by their maxima, ascending.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/attention_int8_job.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/quantize.h"
#include "model/kernels/generic/row_blocks.h"
#include "model/kernels/generic/softmax.h"
#include "model/kernels/generic/unroll.h"

namespace platen::PLATEN_ISA {

constexpr int kInt8QueryTile = 192;  // query rows that use a block of keys while it is in the cache
constexpr int kMostInt8Rows = 16;    // of any Products::kRows

// One block of keys and a few query rows, as the products see them.
struct Int8Block {
  int rows;
  const int8_t* q;
  const int32_t* q_corrections;
  int depth;
  int keys;          // of the block
  const uint8_t* k;  // its first page
  const float* k_scales;
  const int8_t* v;
  const float* v_scales;
  const float* v_means;
  int stride;
};

// Of the rows of a row block. t and p are [rows][kKeySplit].
struct Int8Softmax {
  alignas(64) float t[kMostInt8Rows * kKeySplit];
  alignas(64) uint8_t p[kMostInt8Rows * kKeySplit];
  alignas(64) float top[kMostInt8Rows * 16];  // largest t so far, by lane
  alignas(64) float older[kMostInt8Rows];     // what the result so far is multiplied by,
  alignas(64) float newer[kMostInt8Rows];     // and that of the block
  float total[kMostInt8Rows];                 // L
};

// Products of a table that brings only their integer sums. Those of keys are DotProduct::Group
// (generic/gemm_s8.h), whose panel is a page. Those of values are
//   Values(rows, p, values, stride, keys, columns, sums):
// sums[rows][64] of up to 64 channels over so many keys, a multiple of four; p [rows][kKeySplit].
template <class DotProduct>
struct SummedProducts {
  static constexpr int kRows = DotProduct::kRows;
  static_assert(kInt8PageTokens == kPanelColumns);

  // t of all keys of the block, 16 keys at a time, and their largest by lane.
  PLATEN_INLINE static void Scores(const Int8Block& block, Int8Softmax& s) {
    alignas(64) int32_t sums[kRows * kInt8PageTokens];
    const ptrdiff_t page_bytes = static_cast<ptrdiff_t>(block.depth) * kInt8PageTokens;
    for (int first = 0; first < block.keys; first += kInt8PageTokens) {
      DotProduct::Group(block.rows, block.q, block.depth, block.q_corrections, 1,
                        block.k + first / kInt8PageTokens * page_bytes, block.depth / 4,
                        /*prefetch_streams=*/0, sums);
      for (int r = 0; r < block.rows; ++r) {
        for (int i = 0; i < kInt8PageTokens && first + i < block.keys; i += 16) {
          const F32x16 t =
              Mul(ConvertInt32(sums + r * kInt8PageTokens + i), Load(block.k_scales + first + i));
          Store(t, s.t + r * kKeySplit + first + i);
          Store(Max(Load(s.top + r * 16), t), s.top + r * 16);
        }
      }
    }
  }

  // out = out * older + (sums * value scale + L * mean) * newer
  PLATEN_INLINE static void Weigh(const Int8Block& block, const Int8Softmax& s, float* out) {
    alignas(64) int32_t sums[kRows * kInt8PageTokens];
    for (int channel = 0; channel < block.stride; channel += 64) {
      const int columns = block.stride - channel < 64 ? block.stride - channel : 64;
      DotProduct::Values(block.rows, s.p, block.v + channel * 4, block.stride,
                         (block.keys + 3) / 4 * 4, columns, sums);
      for (int r = 0; r < block.rows; ++r) {
        for (int i = 0; i < columns; i += 16) {
          const int c = channel + i;
          const F32x16 mean = Mul(Set1(s.total[r]), Load(block.v_means + c));
          const F32x16 value = Fma(ConvertInt32(sums + r * 64 + i), Load(block.v_scales + c), mean);
          float* o = out + r * block.stride + c;
          Store(Fma(value, Set1(s.newer[r]), Mul(Load(o), Set1(s.older[r]))), o);
        }
      }
    }
  }
};

// 32640 * 2^x for x <= 0, before it is rounded; relative error 1.0e-4, exact at 0.
PLATEN_INLINE F32x16 Int8Exp(F32x16 x) {
  const F32x16 r = Fraction(x);
  F32x16 p = Fma(Set1(1795.49146F), r, Set1(7905.76563F));
  p = Fma(p, r, Set1(22628.7539F));
  p = Fma(p, r, Set1(32640.0F));
  return ScaleDown(p, x);
}

// The probabilities of `keys` scores, zeros up to a multiple of 64; returns L.
PLATEN_INLINE float Int8Probabilities(const float* t, int keys, float top, float factor,
                                      uint8_t* p) {
  const F32x16 largest = Set1(top), scale = Set1(factor);
  ExactSums sums = NoSums();
  int i = 0;
  for (; i + 64 <= keys; i += 64) {
    F32x16 e[4];
    Unroll<4>([&](auto v) __attribute__((always_inline)) {
      e[v] = Int8Exp(Mul(Sub(Load(t + i + v * 16), largest), scale));
    });
    StoreProbabilities(e, sums, p + i);
  }
  if (i < keys) {
    F32x16 e[4];
    Unroll<4>([&](auto v) __attribute__((always_inline)) {
      const F32x16 one = Int8Exp(Mul(Sub(Load(t + i + v * 16), largest), scale));
      e[v] = KeepFirst(one, keys - i - v * 16, 0.0F);
    });
    StoreProbabilities(e, sums, p + i);
  }
  return static_cast<float>(Total(sums));
}

// Online-softmax state of the rows of a tile.
struct Int8Tile {
  alignas(64) float out[kInt8QueryTile * kMaxHeadDim];  // [rows][stride], not yet divided
  float sum[kInt8QueryTile];
  float max[kInt8QueryTile];
  float scale[kInt8QueryTile];  // of a row's scores, to powers of two
  Int8Softmax softmax;
};

// The maxima, the probabilities and the sums of row `row` of the tile and those after it.
PLATEN_INLINE void JoinSoftmax(const Int8Block& block, int row, Int8Tile& tile) {
  Int8Softmax& s = tile.softmax;
  float top[kMostInt8Rows];
  for (int r = 0; r < block.rows; ++r) {
    top[r] = block.keys % 16 == 0 ? ReduceMax(Load(s.top + r * 16))
                                  : LargestScore(s.t + r * kKeySplit, block.keys);
    const float highest = top[r] * tile.scale[row + r];
    const float max = highest > tile.max[row + r] ? highest : tile.max[row + r];
    s.older[r] = tile.max[row + r] - max;
    s.newer[r] = highest - max;
    tile.max[row + r] = max;
  }
  Store(Exp2(LoadFirst(s.older, block.rows)), s.older);
  Store(Exp2(LoadFirst(s.newer, block.rows)), s.newer);
  for (int r = 0; r < block.rows; ++r) {
    s.total[r] = Int8Probabilities(s.t + r * kKeySplit, block.keys, top[r], tile.scale[row + r],
                                   s.p + r * kKeySplit);
    const F32x16 older = Mul(Set1(tile.sum[row + r]), Set1(s.older[r]));
    StoreFirst(Fma(Set1(s.total[r]), Set1(s.newer[r]), older), tile.sum + row + r, 1);
  }
}

template <class Products>
PLATEN_INLINE void JoinBlock(const AttentionInt8Job& job, int first_row, int rows, int first_key,
                             Int8Tile& tile) {
  Int8Block block;
  block.depth = job.depth();
  block.stride = job.stride();
  const int left = job.keys - first_key;
  block.keys = left < kKeySplit ? left : kKeySplit;
  block.k = job.k + static_cast<ptrdiff_t>(first_key) * block.depth;
  block.k_scales = job.k_scales + first_key;
  block.v = job.v + static_cast<ptrdiff_t>(first_key) * block.stride;
  const ptrdiff_t index = first_key / kKeySplit;
  block.v_scales = job.v_scales + index * block.stride;
  block.v_means = job.v_means + index * block.stride;
  const int blocks = (rows + Products::kRows - 1) / Products::kRows;
  for (int i = 0; i < blocks; ++i) {
    const int row = BlockStart(rows, blocks, i);
    block.rows = BlockStart(rows, blocks, i + 1) - row;
    block.q = job.q + static_cast<ptrdiff_t>(first_row + row) * block.depth;
    block.q_corrections = job.q_corrections + first_row + row;
    for (int r = 0; r < block.rows; ++r) Store(Set1(kLowest), tile.softmax.top + r * 16);
    Products::Scores(block, tile.softmax);
    JoinSoftmax(block, row, tile);
    Products::Weigh(block, tile.softmax, tile.out + static_cast<ptrdiff_t>(row) * block.stride);
  }
}

constexpr float kInt8ScaleLimit = 0x1p20F;
constexpr float kInt8ValueLimit = 0x1p90F;

// Comparisons with NaN are false.
PLATEN_INLINE bool HeadIsFit(const AttentionInt8Job& job) {
  const int blocks = (job.keys + kKeySplit - 1) / kKeySplit;
  return LargestOf(job.k_scales, job.keys) < kInt8ScaleLimit &&
         LargestOf(job.v_scales, blocks * job.stride()) < kInt8ValueLimit &&
         LargestOf(job.v_means, blocks * job.stride()) < kInt8ValueLimit;
}

PLATEN_INLINE void FinishInt8Row(const AttentionInt8Job& job, int row, bool fit, float sum,
                                 const float* value) {
  const F32x16 inverse = Set1(1.0F / sum);
  const F32x16 nan = Set1(__builtin_nanf(""));
  for (int i = 0; i < job.head_dim; i += 16) {
    StoreFirst(fit ? Mul(Load(value + i), inverse) : nan, job.out[row] + i, job.head_dim - i);
  }
}

template <class Products>
void AttentionInt8(const AttentionInt8Job& job) {
  static_assert(Products::kRows <= kMostInt8Rows);
  Int8Tile tile;
  const bool fit = HeadIsFit(job);
  const int stride = job.stride();
  for (int first = 0; first < job.rows; first += kInt8QueryTile) {
    const int rows = job.rows - first < kInt8QueryTile ? job.rows - first : kInt8QueryTile;
    for (int i = 0; i < rows * stride; i += 16) Store(Set1(0.0F), tile.out + i);
    for (int r = 0; r < rows; ++r) {
      tile.sum[r] = 0.0F;
      tile.max[r] = kLowest;
      tile.scale[r] = job.q_scales[first + r] * job.factor;
    }
    for (int key = 0; fit && key < job.keys; key += kKeySplit) {
      JoinBlock<Products>(job, first, rows, key, tile);
    }
    for (int r = 0; r < rows; ++r) {
      const bool row_fits =
          fit && job.q_scales[first + r] < kInt8ScaleLimit && tile.scale[r] == tile.scale[r];
      FinishInt8Row(job, first + r, row_fits, tile.sum[r], tile.out + r * stride);
    }
  }
}

// ---- values

// What 16 channels are divided by; 0 in `inverse` where they are tiny or not finite.
struct ValueScales {
  alignas(64) float scale[16];
  alignas(64) float inverse[16];
  bool finite = true;

  PLATEN_INLINE explicit ValueScales(F32x16 largest) {
    constexpr float kLeast = 1e-30F;
    Store(largest, scale);
    for (int i = 0; i < 16; ++i) {
      const float most = scale[i];
      const bool fits = most <= 3.4028234e38F;
      finite = finite && fits;
      inverse[i] = fits && most > kLeast ? 127.0F / most : 0.0F;
      scale[i] = fits ? most / 127.0F * 128.0F : __builtin_nanf("");
    }
  }
};

// A row of 16 NV channels; beyond the head's width zeros.
template <int NV>
PLATEN_INLINE void LoadChannels(const Int8ValuesJob& job, int token, int channel,
                                F32x16 (&row)[NV]) {
  const float* x = job.x + token * job.x_stride + channel;
  Unroll<NV>([&](auto v) __attribute__((always_inline)) {
    row[v] = LoadFirst(x + v * 16, job.head_dim - channel - v * 16);
  });
}

// Quantises 16 NV channels of the tokens [token, token + 4) and stores them.
template <int NV>
PLATEN_INLINE void StoreFourTokens(const Int8ValuesJob& job, int token, int channel,
                                   const F32x16 (&mean)[NV], const F32x16 (&inverse)[NV],
                                   int8_t* v8) {
  F32x16 four[NV][4];
  Unroll<4>([&](auto i) __attribute__((always_inline)) {
    F32x16 row[NV];
    const bool real = token + i < job.tokens;
    if (real) LoadChannels(job, token + i, channel, row);
    Unroll<NV>([&](auto v) __attribute__((always_inline)) {
      four[v][i] = real ? Mul(Sub(row[v], mean[v]), inverse[v]) : Set1(0.0F);
    });
  });
  Unroll<NV>([&](auto v)
                 __attribute__((always_inline)) { StoreInt8Columns(four[v], v8 + v * 64); });
}

// Channels [channel, channel + 16 NV).
template <int NV>
[[gnu::noinline]] void QuantizeChannels(const Int8ValuesJob& job, int channel) {
  F32x16 mean[NV], largest[NV], inverse[NV];
  Unroll<NV>([&](auto v) __attribute__((always_inline)) { mean[v] = largest[v] = Set1(0.0F); });
  for (int t = 0; t < job.tokens; ++t) {
    F32x16 row[NV];
    LoadChannels(job, t, channel, row);
    Unroll<NV>([&](auto v) __attribute__((always_inline)) { mean[v] = Add(mean[v], row[v]); });
  }
  const F32x16 count = Set1(static_cast<float>(job.tokens));
  Unroll<NV>([&](auto v) __attribute__((always_inline)) { mean[v] = Div(mean[v], count); });
  for (int t = 0; t < job.tokens; ++t) {
    F32x16 row[NV];
    LoadChannels(job, t, channel, row);
    Unroll<NV>([&](auto v) __attribute__((always_inline)) {
      largest[v] = MaxMagnitude(largest[v], Sub(row[v], mean[v]));
    });
  }
  bool finite = true;
  Unroll<NV>([&](auto v) __attribute__((always_inline)) {
    const ValueScales scales(largest[v]);
    Store(Load(scales.scale), job.scales + channel + v * 16);
    Store(mean[v], job.means + channel + v * 16);
    inverse[v] = Load(scales.inverse);
    finite = finite && scales.finite;
  });
  const ptrdiff_t stride = (job.head_dim + 15) / 16 * 16;
  const int padded = (job.tokens + kInt8PageTokens - 1) / kInt8PageTokens * kInt8PageTokens;
  for (int t = 0; t < padded; t += 4) {
    int8_t* v8 = job.v + t * stride + channel * 4;
    if (finite) {
      StoreFourTokens(job, t, channel, mean, inverse, v8);
    } else {  // the head's results are NaN, whatever stands here
      for (int i = 0; i < NV * 64; ++i) v8[i] = 0;
    }
  }
}

inline void QuantizeValues(const Int8ValuesJob& job) {
  int channel = 0;
  for (; channel + 48 < job.head_dim; channel += 64) QuantizeChannels<4>(job, channel);
  for (; channel < job.head_dim; channel += 16) QuantizeChannels<1>(job, channel);
}

}  // namespace platen::PLATEN_ISA
