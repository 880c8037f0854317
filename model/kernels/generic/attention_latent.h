// Attention over latents (LatentAttentionJob): generic/attention.h with one kind of pages for keys
// and values.
//
// In a page of keys a vector holds 16 tokens of one dimension, so a weighted value is summed over
// 16 lanes of tokens, each ascending by sixteens, then over the lanes; once for each split.
//
// Memory idles while a row block computes, so it fetches what comes next. The scores of the first
// block fetch the latents a few pages ahead; those of the others, and all weighted values, fetch
// other memory that is read behind the job.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/attention.h"
#include "model/kernels/generic/attention_products.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/kernels.h"

namespace platen::PLATEN_ISA {

// Query rows that use a split while it is in the L2 cache.
constexpr int kLatentTile = 64;

// Pages of latents from one that is used to the one that is fetched meanwhile.
constexpr int kPagesAhead = 2;
// Lines that are fetched for 16 tokens of weighted values. More of them wait for each other.
constexpr int kFetchedLines = 2;

// Memory that is fetched bit by bit.
struct FetchCursor {
  const std::byte* next;
  const std::byte* end;

  // The next so many bytes; nullptr if that is more than is left.
  PLATEN_INLINE const std::byte* Take(ptrdiff_t bytes) {
    if (end - next < bytes) return nullptr;
    next += bytes;
    return next - bytes;
  }
};

struct LatentTile {
  SoftmaxRows<kLatentTile, kMaxLatentWidth> state;
  alignas(64) float p[kTileRows * kKeySplit];  // scores, then probabilities, of one row block
  float rescale[kTileRows];
  FetchCursor fetch;
};

// The latents of a split from its first page on, `count` tokens of them.
struct LatentRows {
  const void* const* pages;
  int page_tokens;
  int count;
};

// sums[MR][ND][16 lanes] of p over dimensions `first` .. first + ND - 1, ND and first multiples of
// Page::kDepth. kFetch: fetches as many bytes from `fetch` on as FetchedBytes says.
template <class Page, bool kFetch, int MR, int ND>
PLATEN_INLINE void SumTokens(const float* p, const LatentRows& latents, int first,
                             const std::byte* fetch, F32x16 (&acc)[MR][ND]) {
  const ptrdiff_t stride = static_cast<ptrdiff_t>(latents.page_tokens) * Page::kDepth;
  const void* const* page = latents.pages;
  for (int begin = 0; begin < latents.count; begin += latents.page_tokens, ++page) {
    const auto* at =
        static_cast<const typename Page::Value*>(*page) + first / Page::kDepth * stride;
    const int left = latents.count - begin;
    const int tokens = left < latents.page_tokens ? left : latents.page_tokens;
    for (int t = 0; t < tokens; t += 16, at += ptrdiff_t{16} * Page::kDepth, p += 16) {
      if constexpr (kFetch) {
        Unroll<kFetchedLines>([&](auto line) __attribute__((always_inline)) {
          __builtin_prefetch(fetch + 64 * line, 0, 2);
        });
        fetch += 64 * kFetchedLines;
      }
      F32x16 w[ND];
      Unroll<ND>([&](auto d) __attribute__((always_inline)) {
        w[d] = Page::template Load16<d % Page::kDepth>(at + d / Page::kDepth * stride);
        // What lies behind the last token may be anything.
        if (tokens - t < 16) w[d] = KeepFirst(w[d], tokens - t, 0.0F);
      });
      Unroll<MR>([&](auto r) __attribute__((always_inline)) {
        const F32x16 x = Load(p + r * kKeySplit);
        Unroll<ND>([&](auto d) __attribute__((always_inline)) { AddProduct(x, w[d], acc[r][d]); });
      });
    }
  }
}

PLATEN_INLINE ptrdiff_t FetchedBytes(const LatentRows& latents) {
  return ptrdiff_t{(latents.count + 15) / 16} * (64 * kFetchedLines);
}

// quads[MR][16][4]: what StoreQuads leaves of dimensions `first` .. first + ND - 1, from place
// `first` % 16 on.
template <class Page, bool kFetch, int MR, int ND>
[[gnu::noinline]] void WeighDimensions(const float* p, const LatentRows& latents, int first,
                                       const std::byte* fetch, float* quads) {
  F32x16 acc[MR][ND];
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    Unroll<ND>([&](auto d) __attribute__((always_inline)) { acc[r][d] = Set1(0.0F); });
  });
  SumTokens<Page, kFetch>(p, latents, first, fetch, acc);
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    StoreQuads(acc[r], quads + (r * 16 + first % 16) * 4);
  });
}

// out[MR][out_stride] = out * rescale + p * the first `width` dimensions.
template <class Page, int MR>
PLATEN_INLINE void WeighLatents(const float* p, const LatentRows& latents, int width,
                                const float* rescale, FetchCursor& fetch, float* out,
                                int out_stride) {
  constexpr int kAtOnce = kTileVectors < Page::kDepth ? Page::kDepth : kTileVectors;
  for (int first = 0; first < width; first += 16) {
    alignas(64) float quads[MR * 16 * 4];
    const int end = first + 16 < width ? first + 16 : width;
    if (end < first + 16) {
      for (float& quad : quads) quad = 0.0F;
    }
    int d = first;
    for (; d + kAtOnce <= end; d += kAtOnce) {
      if (const std::byte* bytes = fetch.Take(FetchedBytes(latents))) {
        WeighDimensions<Page, true, MR, kAtOnce>(p, latents, d, bytes, quads);
      } else {
        WeighDimensions<Page, false, MR, kAtOnce>(p, latents, d, nullptr, quads);
      }
    }
    // An odd width has a pair whose second dimension is no value: it is behind `width` and ignored.
    for (; d < end; d += Page::kDepth) {
      WeighDimensions<Page, false, MR, Page::kDepth>(p, latents, d, nullptr, quads);
    }
    for (int r = 0; r < MR; ++r) {
      float* at = out + r * out_stride + first;
      Store(Add(Mul(Load(at), Set1(rescale[r])), AddQuads(quads + r * 64)), at);
    }
  }
}

// Of each page of a split, what is fetched while its scores are computed.
struct FetchedPages {
  const void* at[kKeySplit / 16];
};

// The latents that are read kPagesAhead pages later, behind the last one those of the next job.
PLATEN_INLINE FetchedPages PagesAhead(const LatentAttentionJob& job, int first_page, int count) {
  const int keys = LongestContext(job.context, 0, job.rows);
  const int pages = (keys + job.page_tokens - 1) / job.page_tokens;
  FetchedPages fetched;
  for (int i = 0; i < count; ++i) {
    const int page = first_page + i + kPagesAhead;
    fetched.at[i] = page < pages                        ? job.pages[page]
                    : page - pages < job.next.num_pages ? job.next.pages[page - pages]
                                                        : job.pages[first_page + i];
  }
  return fetched;
}

// Other memory, a page's worth of it beside each page.
template <class Page>
PLATEN_INLINE FetchedPages OtherMemory(const LatentAttentionJob& job, int first_page, int count,
                                       FetchCursor& fetch) {
  const auto bytes =
      static_cast<ptrdiff_t>(sizeof(typename Page::Value)) * job.key_width * job.page_tokens;
  FetchedPages fetched;
  for (int i = 0; i < count; ++i) {
    const std::byte* other = fetch.Take(bytes);
    fetched.at[i] = other != nullptr ? other : job.pages[first_page + i];
  }
  return fetched;
}

template <class Page>
PLATEN_INLINE void AttendLatentSplit(const LatentAttentionJob& job, LatentTile& t,
                                     const int32_t* context, int row, int rows, int first,
                                     int count, int out_stride) {
  const int first_page = first / job.page_tokens;
  const int num_pages = (count + job.page_tokens - 1) / job.page_tokens;
  const void* const* pages = job.pages + first_page;
  const FetchedPages fetched = row == 0 ? PagesAhead(job, first_page, num_pages)
                                        : OtherMemory<Page>(job, first_page, num_pages, t.fetch);
  const SplitPages split = {pages, fetched.at, num_pages, job.page_tokens, job.key_width};
  F32Products<Page>::Scores(rows, t.state.q + row * job.key_width, split, t.p);
  Soften(t.state, context, row, rows, first, count, t.p, t.rescale);
  const LatentRows latents = {pages, job.page_tokens, count};
  WithIndex<kTileRows>(
      rows, [&](auto r) __attribute__((always_inline)) {
        WeighLatents<Page, r>(t.p, latents, job.value_width, t.rescale, t.fetch,
                              t.state.out + row * out_stride, out_stride);
      });
}

template <class Page>
void AttendLatentTile(const LatentAttentionJob& job, int first_row, int rows) {
  LatentTile t;
  const int32_t* context = job.context + first_row;
  const int out_stride = (job.value_width + 15) / 16 * 16;
  t.fetch = {job.next.bytes, job.next.bytes + job.next.num_bytes};
  t.state.Begin(job.q + first_row, rows, job.key_width, job.scale, out_stride);
  ForSplits(
      context,
      rows, [&](int row, int block_rows, int first, int count) __attribute__((always_inline)) {
        AttendLatentSplit<Page>(job, t, context, row, block_rows, first, count, out_stride);
      });
  t.state.End(job.out + first_row, rows, job.value_width, out_stride);
}

inline void LatentAttention(const LatentAttentionJob& job) {
  for (int first = 0; first < job.rows; first += kLatentTile) {
    const int left = job.rows - first;
    const int rows = left < kLatentTile ? left : kLatentTile;
    if (job.type == KvType::kF32) {
      AttendLatentTile<F32Page>(job, first, rows);
    } else {
      AttendLatentTile<Bf16Page>(job, first, rows);
    }
  }
}

}  // namespace platen::PLATEN_ISA
