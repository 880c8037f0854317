// Attention of a few query rows over several heads whose pages lie side by side, for decoding. The
// bits are those of generic/attention.h: scores of a key and sums over the values do not depend on
// what is computed in between.
//
// The time goes into reading pages. Head by head, a few KiB are read at a time from pages far
// apart, and a CPU whose prefetcher needs long streams reads at half the rate of its memory. So the
// keys of all heads are read in the order in which they lie in memory, page after page, and then
// the values; each page is prefetched while the one before it is used:
//
//   block of tokens  | head 0 | head 1 | ... |  a page of keys of each head, then the next block;
//                                               the pages of values likewise
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/attention.h"
#include "model/kernels/generic/attention_products.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/row_blocks.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

struct HeadsTile {
  SoftmaxRows<kMaxHeadRows> state;                // rows of the first head, of the second, ...
  alignas(64) float p[kMaxHeadRows * kKeySplit];  // scores, then probabilities
  float rescale[kMaxHeadRows];
};

// work(page of a head, the page after it, head, first key of the page) for the pages of `count`
// keys or values in the order in which they lie in memory. `after` is the page after the last.
template <class F>
PLATEN_INLINE void ForPagesOfHeads(const AttentionHeadsJob& job, const void* const* pages,
                                   ptrdiff_t head_bytes, int count, const void* after, F work) {
  for (int token = 0; token < count; token += job.first.page_tokens, ++pages) {
    const char* page = static_cast<const char*>(*pages);
    for (int head = 0; head < job.heads; ++head, page += head_bytes) {
      const bool more = token + job.first.page_tokens < count;
      const void* next = head + 1 < job.heads ? page + head_bytes : more ? pages[1] : after;
      work(page, next, head, token);
    }
  }
}

// body(rows, first row) for the row blocks of a head, first rows counted in the tile.
template <class F>
PLATEN_INLINE void ForRowBlocks(int head, int rows, F body) {
  const int blocks = BlockCount(rows);
  for (int i = 0; i < blocks; ++i) {
    const int row = BlockStart(rows, blocks, i);
    body(BlockStart(rows, blocks, i + 1) - row, head * rows + row);
  }
}

// Scores of the `count` keys from page `first_page` on.
template <class Page>
PLATEN_INLINE void ScoreHeads(const AttentionHeadsJob& job, int first_page, int count,
                              HeadsTile& t) {
  const AttentionJob& first = job.first;
  const auto score = [&](const void* keys, const void* next, int head, int token)
      __attribute__((always_inline)) {
    ForRowBlocks(
        head, first.rows, [&](int rows, int row) __attribute__((always_inline)) {
          const bool fetches = row == head * first.rows;
          const SplitPages one = {&keys, fetches ? &next : nullptr, 1, first.page_tokens,
                                  first.head_dim};
          F32Products<Page>::Scores(rows, t.state.q + row * first.head_dim, one,
                                    t.p + row * kKeySplit + token);
        });
  };
  ForPagesOfHeads(job, first.k_pages + first_page, job.k_head_bytes, count,
                  first.v_pages[first_page], score);
}

// Adds their weighted values.
template <class Page>
PLATEN_INLINE void WeighHeads(const AttentionHeadsJob& job, int first_page, int count,
                              HeadsTile& t) {
  const AttentionJob& first = job.first;
  const auto weigh = [&](const void* values, const void* next, int head, int token)
      __attribute__((always_inline)) {
    const int left = count - token;
    const PagedRows one = {&values, first.page_tokens, first.v_stride,
                           left < first.page_tokens ? left : first.page_tokens,
                           static_cast<const char*>(next) - static_cast<const char*>(values)};
    ForRowBlocks(
        head, first.rows, [&](int rows, int row) __attribute__((always_inline)) {
          F32Products<Page>::template Weigh<true>(rows, t.p + row * kKeySplit + token, one,
                                                  t.rescale + row,
                                                  t.state.out + row * first.v_stride);
          for (int r = row; r < row + rows; ++r) t.rescale[r] = 1.0F;  // for the pages that follow
        });
  };
  ForPagesOfHeads(job, first.v_pages + first_page, job.v_head_bytes, count,
                  first.v_pages[first_page], weigh);
}

// Keys [first, first + count) of a split, at most kKeySplit.
template <class Page>
PLATEN_INLINE void AttendSplitOfHeads(const AttentionHeadsJob& job, int first, int count,
                                      HeadsTile& t) {
  SoftmaxRows<kMaxHeadRows>& state = t.state;
  const int first_page = first / job.first.page_tokens;
  ScoreHeads<Page>(job, first_page, count, t);
  for (int r = 0; r < job.heads * job.first.rows; ++r) {
    float* p = t.p + r * kKeySplit;
    const int visible = Visible(job.first.context[r], first, count);
    t.rescale[r] = 1.0F;
    if (visible > 0) RaiseMax(p, visible, state.max + r, t.rescale + r);
    Probabilities(p, visible, count, state.max[r], t.rescale[r], state.sum + r * 16);
  }
  WeighHeads<Page>(job, first_page, count, t);
}

template <class Page>
void AttendHeads(const AttentionHeadsJob& job) {
  HeadsTile t;
  const int rows = job.heads * job.first.rows;
  const AttentionJob& one = job.first;
  t.state.Begin(one.q, rows, one.head_dim, one.scale, one.v_stride);
  const int longest = LongestContext(job.first.context, 0, rows);
  for (int first = 0; first < longest; first += kKeySplit) {
    const int left = longest - first;
    AttendSplitOfHeads<Page>(job, first, left < kKeySplit ? left : kKeySplit, t);
  }
  t.state.End(one.out, rows, one.head_dim, one.v_stride);
}

inline void AttentionHeads(const AttentionHeadsJob& job) {
  if (job.first.type == KvType::kF32) {
    AttendHeads<F32Page>(job);
  } else {
    AttendHeads<Bf16Page>(job);
  }
}

}  // namespace platen::PLATEN_ISA
