// Attention over F32x16: online softmax over blocks of kKeySplit keys.
//
// Per query row and block of keys: scores s (one lane per key, summed over the head ascending),
// m = max(old m, s), p = 2^(s - m), out = out * 2^(old m - m) + p V (one lane per value, keys
// ascending), and 16 partial sums of p. Rows of a tile do not depend on each other.
//
// Source: Milakov and Gimelshein, Online normalizer calculation for softmax, arXiv:1805.02867.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/activations.h"
#include "model/kernels/generic/attention_products.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/row_blocks.h"
#include "model/kernels/generic/softmax.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

// Query rows that use a block of keys while it is in the L2 cache.
constexpr int kQueryTile = 192;

// Online-softmax state of up to kRows query rows with keys and values of up to kWidth.
template <int kRows, int kWidth = kMaxHeadDim>
struct SoftmaxRows {
  alignas(64) float q[kRows * kWidth];    // [rows][depth], scaled
  alignas(64) float out[kRows * kWidth];  // [rows][out_stride], not yet divided
  alignas(64) float sum[kRows * 16];      // [rows][16] partial sums
  float max[kRows];

  // Query rows x[rows][depth] before their first key.
  PLATEN_INLINE void Begin(const float* const* x, int rows, int depth, float scale,
                           int out_stride) {
    const F32x16 factor = Set1(scale * kLog2E);
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < depth; i += 16) {
        StoreFirst(Mul(LoadFirst(x[r] + i, depth - i), factor), q + r * depth + i, depth - i);
      }
      max[r] = kLowest;
      Store(Set1(0.0F), sum + r * 16);
    }
    for (int i = 0; i < rows * out_stride; i += 16) Store(Set1(0.0F), out + i);
  }

  // Writes their results y[rows][width].
  PLATEN_INLINE void End(float* const* y, int rows, int width, int out_stride) const {
    for (int r = 0; r < rows; ++r) {
      const F32x16 inverse = Set1(1.0F / ReduceAdd(Load(sum + r * 16)));
      for (int i = 0; i < width; i += 16) {
        StoreFirst(Mul(Load(out + r * out_stride + i), inverse), y[r] + i, width - i);
      }
    }
  }
};

struct AttentionTile {
  SoftmaxRows<kQueryTile> state;
  alignas(64) float p[kTileRows * kKeySplit];  // scores, then probabilities, of one row block
  float rescale[kTileRows];                    // of one row block
};

// Raises a row's maximum to that of the scores p of `visible` keys. The sums so far are to be
// multiplied by *rescale.
PLATEN_INLINE void RaiseMax(const float* p, int visible, float* max, float* rescale) {
  const float block_max = LargestScore(p, visible);
  const float new_max = block_max > *max ? block_max : *max;
  StoreFirst(Exp2(Set1(*max - new_max)), rescale, 1);
  *max = new_max;
}

// Turns the scores p of `visible` keys into probabilities, 0 up to `count` and on to a multiple of
// 32, and adds them to the row's partial sums.
PLATEN_INLINE void Probabilities(float* p, int visible, int count, float row_max, float rescale,
                                 float* sums) {
  const F32x16 max = Set1(row_max);
  F32x16 sum = Mul(Load(sums), Set1(rescale));
  int i = 0;
  for (; i + 16 <= visible; i += 16) {
    const F32x16 e = Exp2(Sub(Load(p + i), max));
    Store(e, p + i);
    sum = Add(sum, e);
  }
  for (; i < (count + 31) / 32 * 32; i += 16) {
    const F32x16 e = KeepFirst(Exp2(Sub(Load(p + i), max)), visible - i, 0.0F);
    Store(e, p + i);
    sum = Add(sum, e);
  }
  Store(sum, sums);
}

// How many of the keys [first, first + count) a row with this context sees.
PLATEN_INLINE int Visible(int context, int first, int count) {
  const int seen = context - first;
  return seen < 0 ? 0 : seen < count ? seen : count;
}

// The softmax of a row block over the scores p[rows][kKeySplit] of keys [first, first + count):
// probabilities in their place, and what the sums so far are to be multiplied by.
template <class State>
PLATEN_INLINE void Soften(State& state, const int32_t* context, int row, int rows, int first,
                          int count, float* p, float* rescale) {
  int visible[kTileRows];
  for (int r = 0; r < rows; ++r) {
    visible[r] = Visible(context[row + r], first, count);
    rescale[r] = 1.0F;
    if (visible[r] > 0) {
      RaiseMax(p + r * kKeySplit, visible[r], state.max + row + r, rescale + r);
    }
  }
  for (int r = 0; r < rows; ++r) {
    Probabilities(p + r * kKeySplit, visible[r], count, state.max[row + r], rescale[r],
                  state.sum + (row + r) * 16);
  }
}

// Keys [first, first + count) of a split for rows [row, row + rows) of the tile: scores, softmax,
// weighted values. The job's pages begin with key `first_of_pages`.
template <class Page>
PLATEN_INLINE void AttendSplit(const AttentionJob& job, AttentionTile& t, const int32_t* context,
                               int row, int rows, int first, int count, int first_of_pages = 0) {
  const int depth = job.head_dim;
  SoftmaxRows<kQueryTile>& state = t.state;
  const int first_page = (first - first_of_pages) / job.page_tokens;
  const SplitPages split = {job.k_pages + first_page, row == 0 ? job.v_pages + first_page : nullptr,
                            (count + job.page_tokens - 1) / job.page_tokens, job.page_tokens,
                            depth};
  F32Products<Page>::Scores(rows, state.q + row * depth, split, t.p);
  Soften(state, context, row, rows, first, count, t.p, t.rescale);
  const PagedRows values = {job.v_pages + first_page, job.page_tokens, job.v_stride, count};
  F32Products<Page>::Weigh(rows, t.p, values, t.rescale, state.out + row * job.v_stride);
}

// Largest context of rows [row, row + rows).
PLATEN_INLINE int LongestContext(const int32_t* context, int row, int rows) {
  int longest = 0;
  for (int r = row; r < row + rows; ++r) longest = context[r] > longest ? context[r] : longest;
  return longest;
}

// attend(row, rows, first key, keys) for the row blocks of a tile and the splits before `end`, a
// multiple of kKeySplit, that they see.
template <class F>
PLATEN_INLINE void ForSplits(const int32_t* context, int rows, F attend, int end = INT32_MAX) {
  const int seen = LongestContext(context, 0, rows);
  const int longest = seen < end ? seen : end;
  const int blocks = BlockCount(rows);
  for (int first = 0; first < longest; first += kKeySplit) {
    for (int i = 0; i < blocks; ++i) {
      const int row = BlockStart(rows, blocks, i);
      const int block_rows = BlockStart(rows, blocks, i + 1) - row;
      const int in_block = LongestContext(context, row, block_rows);
      const int left = (in_block < longest ? in_block : longest) - first;
      if (left > 0) attend(row, block_rows, first, left < kKeySplit ? left : kKeySplit);
    }
  }
}

// The keys that lie in pages of rows' own. Rows of one query group have the same.
template <class Page>
void AttendOwnPages(const AttentionJob& job, AttentionTile& t, int first_row, int rows) {
  const int32_t* context = job.context + first_row;
  const void* const* const* pages = job.own_k_pages + first_row;
  for (int row = 0, count = 1; row < rows; row += count) {
    count = 1;
    while (count < kTileRows && row + count < rows && pages[row + count] == pages[row]) ++count;
    AttentionJob own = job;
    own.k_pages = pages[row];
    own.v_pages = job.own_v_pages[first_row + row];
    const int longest = LongestContext(context, row, count);
    for (int first = job.shared_keys; first < longest; first += kKeySplit) {
      const int left = longest - first;
      AttendSplit<Page>(own, t, context, row, count, first, left < kKeySplit ? left : kKeySplit,
                        job.shared_keys);
    }
  }
}

template <class Page>
void AttendTile(const AttentionJob& job, int first_row, int rows) {
  AttentionTile t;
  const int32_t* context = job.context + first_row;
  t.state.Begin(job.q + first_row, rows, job.head_dim, job.scale, job.v_stride);
  ForSplits(
      context, rows,
      [&](int row, int block_rows, int first, int count) __attribute__((always_inline)) {
        AttendSplit<Page>(job, t, context, row, block_rows, first, count);
      },
      job.own_k_pages == nullptr ? INT32_MAX : job.shared_keys);
  if (job.own_k_pages != nullptr) AttendOwnPages<Page>(job, t, first_row, rows);
  t.state.End(job.out + first_row, rows, job.head_dim, job.v_stride);
}

template <class Page>
void AttendTiles(const AttentionJob& job) {
  for (int first = 0; first < job.rows; first += kQueryTile) {
    const int left = job.rows - first;
    AttendTile<Page>(job, first, left < kQueryTile ? left : kQueryTile);
  }
}

inline void Attention(const AttentionJob& job) {
  if (job.type == KvType::kF32) {
    AttendTiles<F32Page>(job);
  } else {
    AttendTiles<Bf16Page>(job);
  }
}

}  // namespace platen::PLATEN_ISA
