// Attention on bf16 values with AMX: 16 query rows per tile. generic/attention_bf16.h defines the
// result and says why these bits equal the other tables'. The softmax between the products is that
// of the float kernels.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/activations.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/softmax.h"
#include "model/kernels/kernels.h"
#include "model/kernels/tables.h"
#include "model/kernels/x86/tile_shapes.h"

namespace platen {
namespace PLATEN_ISA {
namespace {

constexpr int kAmxRows = 16;
constexpr int kTileDepth = 32;  // bf16 values of a tile row
constexpr int kPageKeys = 64;
constexpr int kBlocks = 12;  // row blocks that use a split of keys while it is in the cache

// 16 query rows: inputs, scores and online-softmax state.
struct RowBlock {
  alignas(64) uint16_t q[kAmxRows * kMaxHeadDim];  // [16][depth], scaled
  alignas(64) float out[kAmxRows * kMaxHeadDim];   // [16][depth], not yet divided
  alignas(64) float sum[kAmxRows * 16];            // [16][16] partial sums
  float max[kAmxRows];
};
struct Scratch {
  alignas(64) float s[kAmxRows * kKeySplit];
  alignas(64) uint16_t p[kAmxRows * kKeySplit];
  alignas(64) float pv[kAmxRows * kMaxHeadDim];
  float rescale[kAmxRows];
};

// c[16][16 kTiles] = a[16][k] * b[k / 2][16 kTiles][2]. Strides in bytes; `b` is a function of k.
// Operand tiles are zeroed after their last use (x86/amx_layouts.h says why).
template <int kTiles, class RowsOfB>
PLATEN_INLINE void MultiplyTiles(const uint16_t* a, ptrdiff_t a_stride, RowsOfB b,
                                 ptrdiff_t b_stride, int k, float* c, ptrdiff_t c_stride) {
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kTiles == 4) {
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int i = 0; i < k; i += kTileDepth) {
    const uint16_t* rows = b(i);
    _tile_loadd(4, a + i, a_stride);
    _tile_loadd(5, rows, b_stride);
    _tile_dpbf16ps(0, 4, 5);
    _tile_zero(5);
    _tile_loadd(6, rows + 32, b_stride);
    _tile_dpbf16ps(1, 4, 6);
    _tile_zero(6);
    if constexpr (kTiles == 4) {
      _tile_loadd(7, rows + 64, b_stride);
      _tile_dpbf16ps(2, 4, 7);
      _tile_zero(7);
      _tile_loadd(5, rows + 96, b_stride);
      _tile_dpbf16ps(3, 4, 5);
      _tile_zero(5);
    }
    _tile_zero(4);
  }
  _tile_stored(0, c, c_stride);
  _tile_stored(1, c + 16, c_stride);
  if constexpr (kTiles == 4) {
    _tile_stored(2, c + 32, c_stride);
    _tile_stored(3, c + 48, c_stride);
  }
}

// Scores s [16][kKeySplit] of the block against `pages` pages.
void Scores(const RowBlock& rows, const void* const* k_pages, int pages, int depth, float* s) {
  for (int g = 0; g < pages; ++g) {
    const auto* page = static_cast<const uint16_t*>(k_pages[g]);
    const auto rows_of = [page](int k) { return page + k * kPageKeys; };
    MultiplyTiles<4>(rows.q, depth * 2, rows_of, kPageKeys * 4, depth, s + g * kPageKeys,
                     kKeySplit * 4);
  }
}

// As the float kernels' Probabilities, rounded to bf16 at p. Prefetches 128 bytes of `next` per 16
// scores: the memory would be idle meanwhile.
PLATEN_INLINE void Probabilities(const float* s, int count, float max, float rescale, float* sum,
                                 uint16_t* p, const uint16_t* next) {
  const F32x16 m = Set1(max);
  const F32x16 least = Set1(kLeastBf16);
  F32x16 total = Mul(Load(sum), Set1(rescale));
  for (int i = 0; i < (count + 31) / 32 * 32; i += 16) {
    F32x16 e = Exp2(Sub(Load(s + i), m));
    if (i + 16 > count) e = KeepFirst(e, count - i, 0.0F);
    total = Add(total, e);
    __builtin_prefetch(next + i * 4);  // 64 values
    __builtin_prefetch(next + i * 4 + 32);
    const __mmask16 large = _mm512_cmp_ps_mask(e.v, least.v, _CMP_GE_OQ);
    const __m256i halves = reinterpret_cast<__m256i>(_mm512_maskz_cvtneps_pbh(large, e.v));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + i), halves);
  }
  Store(total, sum);
}

// `count` keys from page `first_page` on, for the 16 rows of a block.
void AttendSplit(const AttentionJob& job, int first_page, int count, RowBlock& rows, Scratch& t) {
  const int depth = job.v_stride;
  const int pages = (count + kPageKeys - 1) / kPageKeys;
  Scores(rows, job.k_pages + first_page, pages, depth, t.s);
  for (int r = 0; r < kAmxRows; ++r) {
    const float block_max = LargestScore(t.s + r * kKeySplit, count);
    const float new_max = block_max > rows.max[r] ? block_max : rows.max[r];
    StoreFirst(Exp2(Set1(rows.max[r] - new_max)), t.rescale + r, 1);
    rows.max[r] = new_max;
  }
  for (int r = 0; r < kAmxRows; ++r) {
    const int page = r / 4 < pages ? r / 4 : 0;
    const auto* values = static_cast<const uint16_t*>(job.v_pages[first_page + page]);
    Probabilities(t.s + r * kKeySplit, count, rows.max[r], t.rescale[r], rows.sum + r * 16,
                  t.p + r * kKeySplit, values + (r % 4) * (kPageKeys / 4) * depth);
  }
  const int k = (count + kTileDepth - 1) / kTileDepth * kTileDepth;
  const ptrdiff_t stride = depth * 4;
  int n = 0;
  const auto rows_of = [&](int i) {
    const auto* page = static_cast<const uint16_t*>(job.v_pages[first_page + i / kPageKeys]);
    return page + (i % kPageKeys) * depth + n * 2;
  };
  for (; n + 64 <= depth; n += 64) {
    MultiplyTiles<4>(t.p, kKeySplit * 2, rows_of, stride, k, t.pv + n, stride);
  }
  if (n < depth) MultiplyTiles<2>(t.p, kKeySplit * 2, rows_of, stride, k, t.pv + n, stride);
  for (int r = 0; r < kAmxRows; ++r) {
    const F32x16 rescale = Set1(t.rescale[r]);
    for (int i = r * depth; i < (r + 1) * depth; i += 16) {
      Store(Fma(Load(rows.out + i), rescale, Load(t.pv + i)), rows.out + i);
    }
  }
}

// Rows [first, first + count) of the job; the other rows of the block are zero.
void Start(const AttentionJob& job, int first, int count, RowBlock& rows) {
  const int depth = job.v_stride;
  const F32x16 scale = Set1(job.scale * kLog2E);
  for (int r = 0; r < kAmxRows; ++r) {
    for (int i = 0; i < depth; i += 16) {
      F32x16 q = Set1(0.0F);
      if (r < count) q = Mul(LoadFirst(job.q[first + r] + i, job.head_dim - i), scale);
      q = Fma(q, Set1(0.0F), RoundToBf16(q));
      const __m512i upper = _mm512_srli_epi32(_mm512_castps_si512(q.v), 16);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(rows.q + r * depth + i),
                          _mm512_cvtepi32_epi16(upper));
      Store(Set1(0.0F), rows.out + r * depth + i);
    }
    Store(Set1(0.0F), rows.sum + r * 16);
    rows.max[r] = kLowest;
  }
}

void Finish(const AttentionJob& job, int first, int count, const RowBlock& rows) {
  for (int r = 0; r < count; ++r) {
    const F32x16 inverse = Set1(1.0F / ReduceAdd(Load(rows.sum + r * 16)));
    for (int i = 0; i < job.head_dim; i += 16) {
      StoreFirst(Mul(Load(rows.out + r * job.v_stride + i), inverse), job.out[first + r] + i,
                 job.head_dim - i);
    }
  }
}

void AttentionOnTiles(const AttentionJob& job) {
  RowBlock blocks[kBlocks];
  Scratch scratch;
  const int keys = job.context[0];
  LoadTileShapes({});
  for (int first = 0; first < job.rows; first += kBlocks * kAmxRows) {
    const int left = job.rows - first < kBlocks * kAmxRows ? job.rows - first : kBlocks * kAmxRows;
    const int num_blocks = (left + kAmxRows - 1) / kAmxRows;
    const auto rows_of = [left](int b) {
      return left - b * kAmxRows < kAmxRows ? left - b * kAmxRows : kAmxRows;
    };
    for (int b = 0; b < num_blocks; ++b) Start(job, first + b * kAmxRows, rows_of(b), blocks[b]);
    for (int key = 0; key < keys; key += kKeySplit) {
      const int count = keys - key < kKeySplit ? keys - key : kKeySplit;
      for (int b = 0; b < num_blocks; ++b) {
        AttendSplit(job, key / kPageKeys, count, blocks[b], scratch);
      }
    }
    for (int b = 0; b < num_blocks; ++b) Finish(job, first + b * kAmxRows, rows_of(b), blocks[b]);
  }
  _tile_release();
}

}  // namespace
}  // namespace PLATEN_ISA

void AttentionBf16Amx(const AttentionJob& job) { PLATEN_ISA::AttentionOnTiles(job); }

}  // namespace platen
