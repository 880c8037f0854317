// The two products of attention over F32x16: scores of keys, and values weighted by probabilities.
//
// With few query rows per head, as in decoding, the time goes into reading pages from memory. Where
// four streams are read faster than one, several pages of keys are read side by side, and the
// values of the same tokens are prefetched; for other CPUs see generic/attention_heads.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

// A kind of page (attention_job.h): kDepth rows side by side, multiplied in kTerms steps by one
// float of the left side each. Load16<kTerm>(p) gives 16 columns of such a step.
struct F32Page {
  using Value = float;
  static constexpr int kDepth = 1;
  static constexpr int kTerms = 1;
  template <int kTerm>
  PLATEN_INLINE static F32x16 Load16(const float* p) {
    return Load(p);
  }
  // The values of 16 words, of the step.
  template <int kTerm>
  PLATEN_INLINE static F32x16 Widen(F32x16 words) {
    return words;
  }
  PLATEN_INLINE static F32x16 Left(const float* a) { return Set1(*a); }
  PLATEN_INLINE static void Multiply(F32x16 a, F32x16 b, F32x16& sum) { AddProduct(a, b, sum); }
};
struct Bf16Page : F32Page {
  using Value = uint16_t;
  static constexpr int kDepth = 2;
  static constexpr int kTerms = 2;
  template <int kTerm>
  PLATEN_INLINE static F32x16 Load16(const uint16_t* p) {
    return Widen<kTerm>(LoadPairs(p));
  }
  template <int kTerm>
  PLATEN_INLINE static F32x16 Widen(F32x16 pairs) {
    return kTerm == 0 ? FirstOfPairs(pairs) : SecondOfPairs(pairs);
  }
};

// The right side of a product: its row i is row i % page_rows of page i / page_rows.
struct PagedRows {
  const void* const* pages;
  int page_rows;
  ptrdiff_t columns;  // of a page
  int k;              // rows
  // With kFetch: bytes from the only page to what is prefetched into L2 while it is used.
  ptrdiff_t ahead = 0;
};

// Vectors of 16 columns in a tile: enough sums to hide the latency of a multiply-add.
template <int MR>
constexpr int kVectors = MR * 3 <= kTileRows ? 2 * kTileVectors : kTileVectors;

// acc[MR][NV] += a[MR] * w[NV].
template <class Page, int MR, int NV>
PLATEN_INLINE void AddProducts(const float* a, ptrdiff_t a_stride, const F32x16 (&w)[NV],
                               F32x16 (&acc)[MR][NV]) {
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    const F32x16 x = Page::Left(a + r * a_stride);
    Unroll<NV>([&](auto v) __attribute__((always_inline)) { Page::Multiply(x, w[v], acc[r][v]); });
  });
}

// ---- scores

// The keys of a split (kKeySplit), and the values that belong to them.
struct SplitPages {
  const void* const* keys;
  const void* const* values;  // prefetched into L2 while the scores are computed; nullptr: not
  int count;                  // of pages
  int tokens;                 // of a page
  int depth;                  // floats of a query
};

// Pointers into kPages pages from `page` on, each at the same offset.
template <class Value, int kPages>
struct PageStarts {
  PLATEN_INLINE PageStarts(const void* const* pages, int page, ptrdiff_t offset) {
    Unroll<kPages>([&](auto p) __attribute__((always_inline)) {
      at[p] = static_cast<const Value*>(pages[page + p]) + offset;
    });
  }
  const Value* at[kPages];
};

// s[MR][kPages pages][16 NV columns from `first`] = q[MR][depth] * keys.
template <class Page, int MR, int kPages, int NV>
[[gnu::noinline]] void ScoreTile(const float* q, const SplitPages& split, int page, int first,
                                 float* s) {
  using Starts = PageStarts<typename Page::Value, kPages>;
  constexpr int kStep = 16 * Page::kDepth;  // from vector to vector
  const Starts keys(split.keys, page, first * Page::kDepth);
  const bool fetches = split.values != nullptr;
  const Starts values(fetches ? split.values : split.keys, page, first * Page::kDepth);
  const ptrdiff_t stride = static_cast<ptrdiff_t>(split.tokens) * Page::kDepth;
  const ptrdiff_t depth = split.depth;
  F32x16 acc[MR][kPages * NV];
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    Unroll<kPages * NV>([&](auto v) __attribute__((always_inline)) { acc[r][v] = Set1(0.0F); });
  });
  for (ptrdiff_t d = 0, at = 0; d < depth; d += Page::kTerms, at += stride) {
    if (fetches) {
      Unroll<kPages * NV>([&](auto v) __attribute__((always_inline)) {
        __builtin_prefetch(values.at[v / NV] + at + v % NV * kStep, 0, 2);
      });
    }
    Unroll<Page::kTerms>([&](auto term) __attribute__((always_inline)) {
      F32x16 w[kPages * NV];
      Unroll<kPages * NV>([&](auto v) __attribute__((always_inline)) {
        w[v] = Page::template Load16<term>(keys.at[v / NV] + at + v % NV * kStep);
      });
      AddProducts<Page>(q + d + term, depth, w, acc);
    });
  }
  s += page * split.tokens + first;
  const ptrdiff_t page_tokens = split.tokens;
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    Unroll<kPages * NV>([&](auto v) __attribute__((always_inline)) {
      Store(acc[r][v], s + r * kKeySplit + v / NV * page_tokens + v % NV * 16);
    });
  });
}

// All pages of a split, as many at a time as fill a register tile.
template <class Page, int MR, int NV = kVectors<MR>>
PLATEN_INLINE void ScorePages(const float* q, const SplitPages& split, float* s) {
  if constexpr (NV > 1) {
    if (split.tokens < NV * 16) return ScorePages<Page, MR, NV / 2>(q, split, s);
  }
  constexpr int kPages = kVectors<MR> / NV;
  for (int first = 0; first < split.tokens; first += NV * 16) {
    int page = 0;
    for (; page + kPages <= split.count; page += kPages) {
      ScoreTile<Page, MR, kPages, NV>(q, split, page, first, s);
    }
    if constexpr (kPages > 1) {
      for (; page < split.count; ++page) ScoreTile<Page, MR, 1, NV>(q, split, page, first, s);
    }
  }
}

// ---- weighted values

// acc[MR][NV] += p[MR][kTerm] * step kTerm of a group of rows of values.
template <class Page, bool kFetch, int kTerm, int MR, int NV>
PLATEN_INLINE void WeighRow(const typename Page::Value* row, ptrdiff_t ahead, const float* p,
                            F32x16 (&acc)[MR][NV]) {
  F32x16 w[NV];
  Unroll<NV>([&](auto v) __attribute__((always_inline)) {
    const typename Page::Value* at = row + v * 16 * Page::kDepth;
    if (kFetch && kTerm == 0) __builtin_prefetch(at + ahead, 0, 2);
    w[v] = Page::template Load16<kTerm>(at);
  });
  AddProducts<Page>(p + kTerm, kKeySplit, w, acc);
}

// out[MR][16 NV] = out * rescale + p[MR][k] * columns `first` .. of the values. kFetch:
// prefetches values.ahead.
template <class Page, bool kFetch, int MR, int NV>
[[gnu::noinline]] void WeighTile(const float* p, const PagedRows& values, int first,
                                 const float* rescale, float* out) {
  const ptrdiff_t out_stride = values.columns;
  out += first;
  F32x16 acc[MR][NV];
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    Unroll<NV>([&](auto v) __attribute__((always_inline)) {
      acc[r][v] = Mul(Load(out + r * out_stride + v * 16), Set1(rescale[r]));
    });
  });
  const void* const* page = values.pages;
  const int page_rows = values.page_rows;
  const ptrdiff_t stride = values.columns * Page::kDepth;
  const ptrdiff_t ahead = values.ahead / static_cast<ptrdiff_t>(sizeof(typename Page::Value));
  for (int k = values.k; k > 0; k -= page_rows, ++page) {
    const auto* row = static_cast<const typename Page::Value*>(*page) + first * Page::kDepth;
    int left = k < page_rows ? k : page_rows;
    for (; left >= Page::kDepth; left -= Page::kDepth, row += stride, p += Page::kTerms) {
      Unroll<Page::kTerms>([&](auto i) __attribute__((always_inline)) {
        WeighRow<Page, kFetch, i>(row, ahead, p, acc);
      });
    }
    if (left > 0) WeighRow<Page, kFetch, 0>(row, ahead, p, acc);  // the last row, if odd
  }
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    Unroll<NV>([&](auto v) __attribute__((always_inline)) {
      Store(acc[r][v], out + r * out_stride + v * 16);
    });
  });
}

// The same for all columns.
template <class Page, bool kFetch, int MR, int NV = kVectors<MR>>
PLATEN_INLINE void WeighColumns(const float* p, const PagedRows& values, const float* rescale,
                                float* out, int first = 0) {
  for (; first + NV * 16 <= values.columns; first += NV * 16) {
    WeighTile<Page, kFetch, MR, NV>(p, values, first, rescale, out);
  }
  if constexpr (NV > 1) WeighColumns<Page, kFetch, MR, NV / 2>(p, values, rescale, out, first);
}

// The products of one kind of pages.
template <class Page>
struct F32Products {
  // s[rows][kKeySplit] = q * keys
  PLATEN_INLINE static void Scores(int rows, const float* q, const SplitPages& split, float* s) {
    WithIndex<kTileRows>(
        rows, [&](auto r) __attribute__((always_inline)) { ScorePages<Page, r>(q, split, s); });
  }
  // out = out * rescale + p * values; kFetch: prefetches values.ahead
  template <bool kFetch = false>
  PLATEN_INLINE static void Weigh(int rows, const float* p, const PagedRows& values,
                                  const float* rescale, float* out) {
    WithIndex<kTileRows>(
        rows, [&](auto r) __attribute__((always_inline)) {
          WeighColumns<Page, kFetch, r>(p, values, rescale, out);
        });
  }
};

}  // namespace platen::PLATEN_ISA
